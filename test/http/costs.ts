// What each who can ask may cost everybody else, at the most. SECURITY.md shows this table, and costs.test.ts lets each of them ask
// for as much as they like and measures what it came to.

const PRINCIPALS = {
  stranger: 'a stranger with nothing',
  url: 'a stranger with the URL',
  free: 'a free user',
  user: 'a user',
  api_key: 'an API key',
  admin: 'an administrator',
} as const;
export type Principal = keyof typeof PRINCIPALS;

export const COSTS = {
  bytes: 'bytes stored, a minute',
  messages: 'mails to one address, an hour',
  passwords: 'password checks, 5 minutes',
  broker: 'broker calls that do not trade, a minute',
  rows: 'rows read, a request',
} as const;
export type Cost = keyof typeof COSTS;

const KIB = 1024;
/** 60 webhooks a minute with 16 KiB each, twice where their message became an order; and 400 other requests with an entry each. */
const OF_USER = 2_048 * KIB;
/** 5, and an alert every half hour. */
const MAILS = 8;
/** Ten tries of a session in 15 minutes, each with a new hash at the most. */
const CHECKS = 20;
/** BROKER_READS_PER_MINUTE, of one user however they ask. */
const BROKER_READS = 240;
/** A price for each rehearsal of a minute. */
const REHEARSALS = 60;
/** A page of 200, and what belongs to it. */
const PAGE = 1_000;

/** From one address. */
export const MOST: Readonly<Record<Principal, Readonly<Record<Cost, number>>>> = {
  stranger: { bytes: 256 * KIB, messages: 5, passwords: 200, broker: 0, rows: 20 },
  url: { bytes: 1_536 * KIB, messages: 3, passwords: 0, broker: REHEARSALS, rows: 20 },
  free: { bytes: OF_USER, messages: MAILS, passwords: CHECKS, broker: BROKER_READS, rows: PAGE },
  user: { bytes: OF_USER, messages: MAILS, passwords: CHECKS, broker: BROKER_READS, rows: PAGE },
  api_key: { bytes: OF_USER, messages: MAILS, passwords: 0, broker: BROKER_READS, rows: PAGE },
  admin: { bytes: OF_USER, messages: MAILS, passwords: CHECKS, broker: BROKER_READS, rows: PAGE },
};

/** As it stands in SECURITY.md. */
export function costsTable(): string {
  const names = Object.keys(COSTS) as Cost[];
  const cell = (cost: Cost, most: number): string =>
    cost === 'bytes' ? `${(most / KIB).toLocaleString('en')} KiB` : most.toLocaleString('en');
  const rows = (Object.keys(PRINCIPALS) as Principal[]).map((principal) => [
    PRINCIPALS[principal],
    ...names.map((cost) => cell(cost, MOST[principal][cost])),
  ]);
  const lines = [['at the most, from one address', ...names.map((name) => COSTS[name])], ...rows];
  const [head = [], ...body] = lines.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(names.length + 1)}`, ...body].join('\n');
}
