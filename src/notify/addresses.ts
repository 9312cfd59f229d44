// Which addresses a request may go to that a user has chosen: those of the public internet, and what the operator allows
// besides. By what is global unicast, less what is reserved in it; so that a block which nobody has thought of is refused.

import { BlockList, isIP, isIPv4 } from 'node:net';

/** IANA's special-purpose blocks, and multicast and what lies behind it. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // A cloud's own services under an address of the public ones.
  '168.63.129.16/32',
];

/** Of 2000::/3, which is all that is global: Teredo and its like, documentation, 6to4 with an IPv4 address inside, and SRv6's. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

function listOf(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits] = block.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return list;
}

const notPublicV4 = listOf(NOT_PUBLIC_V4);
const globalV6 = listOf(['2000::/3']);
const notPublicV6 = listOf(NOT_PUBLIC_V6);

/** An IPv4 address in IPv6's clothes (mapped, NAT64) is not global there, and so is refused whatever it is. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !notPublicV4.check(address, 'ipv4');
  // A zone is of a link.
  if (isIP(address) !== 6 || address.includes('%')) return false;
  return globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6');
}

/** `allowed`: of the operator's own network, with any port and without TLS. */
export type Standing = 'public' | 'allowed' | 'refused';

/** Blocks of the operator's own network that may be reached all the same. */
export interface AllowedNetworks {
  has(address: string): boolean;
}

export const standingOf = (address: string, allowed: AllowedNetworks): Standing => {
  if (allowed.has(address)) return 'allowed';
  return isPublic(address) ? 'public' : 'refused';
};
