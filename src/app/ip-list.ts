// Lists of addresses and CIDR blocks, IPv4 and IPv6.

import { BlockList, isIP } from 'node:net';
import { canonicalBlock } from './ip-block.ts';

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
    const [ip, prefix] = canonicalBlock(entry)?.split('/') ?? [];
    if (!ip) continue;
    const family = isIP(ip) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(ip, family);
    else list.addSubnet(ip, Number(prefix), family);
  }
  return {
    has(text) {
      const ip = canonicalIp(text);
      return ip !== null && list.check(ip, isIP(ip) === 4 ? 'ipv4' : 'ipv6');
    },
  };
}
