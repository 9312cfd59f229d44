// One spelling for every address and CIDR block, so that a list shows what it does and holds nothing twice:
// 10.1.2.3/8 is 10.0.0.0/8, 1.2.3.4/32 and ::ffff:1.2.3.4 are 1.2.3.4, 2001:DB8:0::1 is 2001:db8::1.

import { isIP } from 'node:net';

/** Null: neither an address nor a block. */
export function canonicalBlock(text: string): string | null {
  const [address = '', prefix, ...rest] = text.split('/');
  // A zone ("fe80::1%eth0") names an interface of one machine, which no client's address carries.
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0 || rest.length > 0) return null;
  if (prefix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefix)) return null;
  const bytes = family === 4 ? address.split('.').map(Number) : bytesOfIpv6(address);
  const bits = prefix === undefined ? bytes.length * 8 : Number(prefix);
  if (bits > bytes.length * 8) return null;
  return isMapped(bytes) && bits >= 96 ? written(bytes.slice(12), bits - 96) : written(bytes, bits);
}

/** ::ffff:0:0/96, where IPv6 keeps all of IPv4. */
const isMapped = (bytes: readonly number[]): boolean =>
  bytes.length === 16 && bytes.slice(0, 12).every((byte, index) => byte === (index < 10 ? 0 : 255));

function bytesOfIpv6(address: string): number[] {
  const [left = [], right] = compressed(address)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = right ? Array<string>(8 - left.length - right.length).fill('0') : [];
  return [...left, ...zeros, ...(right ?? [])].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

/** A URL's host is in the form of RFC 5952: lower case, without leading zeros, the longest run of zeros as "::". */
const compressed = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

function written(bytes: readonly number[], bits: number): string {
  const masked = bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  const address = masked.length === 4 ? masked.join('.') : compressed(hexGroups(masked).join(':'));
  return bits === bytes.length * 8 ? address : `${address}/${bits}`;
}

const hexGroups = (bytes: readonly number[]): string[] =>
  bytes.flatMap((byte, index) =>
    index % 2 === 0 ? [((byte << 8) | (bytes[index + 1] ?? 0)).toString(16)] : [],
  );
