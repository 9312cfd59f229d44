// What the doctor works with. A check looks and says what is wrong, each time with the way out; it changes nothing.

import type { Config } from '../../config/config.ts';

/** The area that it is about: what an operator would go and look at. */
export type Area =
  | 'configuration'
  | 'permissions'
  | 'disk'
  | 'port'
  | 'proxies'
  | 'database'
  | 'store'
  | 'mail'
  | 'clock'
  | 'brokers';

export interface Finding {
  readonly area: Area;
  readonly problem: string;
  readonly remedy: string;
}

export interface Check {
  readonly area: Area;
  /** What it looks at, for who waits. */
  readonly about: string;
  look(config: Config, options: { readonly allBrokers: boolean }): Promise<readonly Finding[]>;
}

/** Of one area: `found('disk')(problem, remedy)`. */
export const found =
  (area: Area) =>
  (problem: string, remedy: string): Finding => ({ area, problem, remedy });

/** Machines whose clocks differ by more refuse good signals, or believe old ones, before anybody notices. */
const CLOCKS_MS = 2_000;

/** `theirs` was read between the two moments of ours. */
export function clockFindings(
  whose: string,
  theirs: number,
  { asked, answered, exactMs = 0 }: { asked: number; answered: number; exactMs?: number },
): Finding[] {
  const behind = asked - theirs - exactMs;
  const ahead = theirs - answered;
  const offMs = Math.max(behind, ahead);
  if (offMs <= CLOCKS_MS) return [];
  const seconds = Math.round(offMs / 100) / 10;
  return [
    {
      area: 'clock',
      problem: `This machine's clock is ${seconds} s ${behind > ahead ? 'ahead of' : 'behind'} that of ${whose}.`,
      remedy:
        'Let NTP set the clocks of both (`timedatectl set-ntp true`); deadlines and the age of signals compare them.',
    },
  ];
}

/** In words: what a connection failed by. */
export function whyUnreachable(fault: unknown): string {
  const { code, message, cause } = fault as NodeJS.ErrnoException & { cause?: unknown };
  const words: Record<string, string> = {
    ENOTFOUND: 'its name is not known to DNS',
    EAI_AGAIN: 'DNS does not answer',
    ECONNREFUSED: 'nothing listens there',
    ECONNRESET: 'it closes the connection',
    ETIMEDOUT: 'it does not answer',
    EHOSTUNREACH: 'there is no route to it',
    ENETUNREACH: 'there is no route to it',
    ENOENT: 'there is no such socket',
    CERT_HAS_EXPIRED: 'its certificate has expired',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
    SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
    ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
    UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  };
  if (code && words[code]) return words[code];
  if (cause) return whyUnreachable(cause);
  const [first] = fault instanceof AggregateError ? fault.errors : [];
  return first ? whyUnreachable(first) : message || String(code);
}
