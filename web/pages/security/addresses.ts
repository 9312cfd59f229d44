// Addresses and blocks as the list of allowed ones means them. The server decides; the page only foresees whom an entry
// would shut out, so that nobody shuts themselves out unawares.

/** Published by the charting platform; src/config/table.ts has the same (CHARTING_IPS). */
export const CHARTING_ADDRESSES = ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7'] as const;

export const isCharting = (ip: string | null): boolean => CHARTING_ADDRESSES.some((known) => known === ip);

/** Where IPv6 keeps all of IPv4: ::ffff:0:0/96. */
const OF_IPV4 = '0'.repeat(80) + '1'.repeat(16);

/** As 128 bits, one spelling for each; null: no address. */
function bitsOf(address: string): string | null {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) {
    const bytes = address.split('.').map(Number);
    return bytes.every((byte) => byte < 256) ? OF_IPV4 + inBits(bytes, 8) : null;
  }
  if (!address.includes(':') || !URL.canParse(`http://[${address}]`)) return null;
  const [left = [], right] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = right ? Array<string>(8 - left.length - right.length).fill('0') : [];
  return inBits(
    [...left, ...zeros, ...(right ?? [])].map((group) => Number.parseInt(group, 16)),
    16,
  );
}

const inBits = (groups: readonly number[], width: number): string =>
  groups.map((group) => group.toString(2).padStart(width, '0')).join('');

/** Whether an address is on a list of addresses and blocks. What is neither matches nothing. */
export function isOn(entries: readonly string[], ip: string): boolean {
  const bits = bitsOf(ip);
  return bits !== null && entries.some((entry) => covers(entry, bits));
}

function covers(entry: string, bits: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const block = bitsOf(address);
  if (block === null || rest.length > 0 || (prefix !== undefined && !/^\d+$/.test(prefix))) return false;
  const before = address.includes(':') ? 0 : OF_IPV4.length;
  const length = prefix === undefined ? bits.length : before + Number(prefix);
  return block.slice(0, length) === bits.slice(0, length);
}

export interface Consequence {
  /** From now on everything else is refused. */
  readonly isFirst: boolean;
  /** This browser could not trade any more. */
  readonly shutsOutBrowser: boolean;
  /** Nor could the platform's alerts come in. */
  readonly shutsOutCharting: boolean;
}

/** Of adding these to the list. */
export function consequenceOf(list: readonly string[], added: readonly string[], own: string): Consequence {
  const then = [...list, ...added];
  const isFirst = list.length === 0;
  return {
    isFirst,
    // One who is out already is not shut out by this.
    shutsOutBrowser: isFirst && !isOn(then, own),
    shutsOutCharting: isFirst && !CHARTING_ADDRESSES.some((address) => isOn(then, address)),
  };
}

/** Null: the last entry goes, and requests may come from anywhere again; or nothing of note happens. */
export function warningOfRemoval(
  list: readonly string[],
  removed: string,
  own: string,
): 'opens_to_all' | 'shuts_out_browser' | null {
  const left = list.filter((entry) => entry !== removed);
  if (left.length === 0) return 'opens_to_all';
  return isOn(list, own) && !isOn(left, own) ? 'shuts_out_browser' : null;
}
