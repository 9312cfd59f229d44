// Under which names the service is administered. Whoever owns a name can have it lead to any address, the loopback of a
// visitor's machine too (DNS rebinding): to that browser our answers are then the page's own. The Host header still says
// which name was asked for.

import { BlockList, isIP } from 'node:net';
import { type Denial, deny } from '../domain/denial.ts';

export interface OwnNames {
  readonly baseUrl: string;
  readonly allowedHosts: readonly string[];
}

/** Whether a Host header names us: as BASE_URL or ALLOWED_HOSTS do, or the loopback. At any port. */
export function ownHosts({ baseUrl, allowedHosts }: OwnNames): (host: string | undefined) => boolean {
  const ours = new Set([new URL(baseUrl).hostname, ...allowedHosts].map(nameOf));
  return (host) => {
    const name = nameOf(host ?? '');
    return ours.has(name) || isLoopback(name);
  };
}

/** An address is no name: nobody can have it lead elsewhere. */
export const isAddress = (host: string | undefined): boolean => isIP(nameOf(host ?? '')) !== 0;

export const wrongHost = (host = 'none'): Denial =>
  deny('wrong_host', {
    detail: `The Host header is ${JSON.stringify(host.slice(0, 100))}, which is not a name of this service.`,
    advice: 'Use the address in BASE_URL, or add the name to ALLOWED_HOSTS.',
  });

/** In lower case, without port, brackets and the dot at its end. */
const nameOf = (host: string): string =>
  host
    .toLowerCase()
    .replace(isIP(host) === 6 ? '' : /:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

function isLoopback(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const family = isIP(name);
  return family !== 0 && LOOPBACK.check(name, family === 4 ? 'ipv4' : 'ipv6');
}
