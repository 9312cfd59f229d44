// Lists of addresses and CIDR blocks, IPv4 and IPv6.

import { BlockList, isIP } from 'node:net';

/** An IPv4 address that came over an IPv6 socket is that IPv4 address. Null: no address at all. */
export function canonicalIp(text: string): string | null {
  const address = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = (mapped ?? address).toLowerCase();
  return isIP(plain) === 0 ? null : plain;
}

export interface IpList {
  has(ip: string): boolean;
}

/** Entries that are no address and no block match nothing. */
export function ipList(entries: readonly string[]): IpList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address, prefix] = entry.split('/');
    const ip = canonicalIp(address ?? '');
    if (!ip) continue;
    const family = isIP(ip) === 4 ? 'ipv4' : 'ipv6';
    // Of an IPv4 address that is written as IPv6, the first 96 bits say just that.
    const bits = Number(prefix) - (family === 'ipv4' && entry.includes(':') ? 96 : 0);
    if (prefix === undefined) list.addAddress(ip, family);
    else if (Number.isInteger(bits) && bits >= 0 && bits <= (family === 'ipv4' ? 32 : 128))
      list.addSubnet(ip, bits, family);
  }
  return {
    has(text) {
      const ip = canonicalIp(text);
      return ip !== null && list.check(ip, isIP(ip) === 4 ? 'ipv4' : 'ipv6');
    },
  };
}
