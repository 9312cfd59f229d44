// Lists of addresses and CIDR blocks, IPv4 and IPv6.

import { BlockList, isIP } from 'node:net';
import { canonicalBlock } from './ip-block.ts';

/**
 * One spelling for each address: an IPv4 address that came over an IPv6 socket is that IPv4 address, and a zone ("%eth0")
 * is left out. Null: no address at all.
 */
export function canonicalIp(text: string): string | null {
  const address = text.trim().replace(/%.*$/, '');
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return canonicalBlock(address);
    default:
      return null;
  }
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

/** Of blocks as the configuration has them. */
export const blockList = (blocks: readonly { address: string; prefix: number }[]): IpList =>
  ipList(blocks.map(({ address, prefix }) => `${address}/${prefix}`));
