// With which credentials a protection is looked after: of which account at the broker others are is found out when they are verified.

import { type BrokerName, NEEDS_CREDENTIALS } from '../brokers.ts';
import type { Protection } from './protection.ts';

/** Why nobody looks after it. */
export const NOT_VERIFIED = 'New credentials were entered, and are not verified yet.';

interface Entered {
  readonly brokerName: BrokerName;
  readonly credentialsVersion: number;
  readonly credentialsVerified: boolean;
}

/** Others were entered since it was last looked at, and nobody knows yet whose they are. */
export const awaitsVerification = (
  { simulation, credentialsVersion: seenWith }: Protection,
  { brokerName, credentialsVersion, credentialsVerified }: Entered,
): boolean =>
  !simulation &&
  NEEDS_CREDENTIALS[brokerName] &&
  seenWith !== null &&
  seenWith !== credentialsVersion &&
  !credentialsVerified;
