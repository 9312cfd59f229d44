// Why nobody looks after a protection: its broker refuses the credentials, of others nobody knows yet of which account at the broker they
// are, or the broker does not know its instrument any more.

import { type BrokerName, NEEDS_CREDENTIALS } from '../brokers.ts';
import type { Protection } from './protection.ts';

export const NOT_VERIFIED = 'New credentials were entered, and are not verified yet.';

/** The position is shown all the same. It is what such a reason begins with. */
export const NOT_LISTED = 'The broker does not list the instrument any more';

export const isNotListed = ({ reason }: Pick<Protection, 'reason'>): boolean =>
  reason?.startsWith(NOT_LISTED) ?? false;

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
