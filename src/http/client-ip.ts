// The client's address through the trusted proxy chain: the rightmost one of X-Forwarded-For that is not a trusted
// proxy. What stands further left was written by strangers and changes nothing.

import type { FastifyRequest } from 'fastify';
import { canonicalIp, type IpList } from '../app/accounts/ip-list.ts';

export function clientIp(request: FastifyRequest, trustedProxies: IpList): string {
  const peer = canonicalIp(request.socket.remoteAddress ?? '') ?? '0.0.0.0';
  const forwarded = request.headers['x-forwarded-for'];
  const chain = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',');
  let client = peer;
  while (trustedProxies.has(client) && chain.length > 0) {
    const next = canonicalIp(withoutPort(chain.pop() ?? ''));
    // A trusted proxy that forwards garbage: the last address that we can believe in is its own.
    if (next === null) break;
    client = next;
  }
  return client;
}

/** Some proxies forward "1.2.3.4:5678" and "[::1]:80". A bare IPv6 address may end in what only looks like a port. */
const withoutPort = (text: string): string =>
  text.trim().replace(/^(?:\[([^[\]]*)\]|([\d.]+))(?::\d{1,5})?$/, '$1$2');

/** It names an address that we must not believe: a proxy stands in front that nobody told us of. */
export function isForwardedByStranger({ headers, socket }: FastifyRequest, trustedProxies: IpList): boolean {
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return isForwarded && !trustedProxies.has(socket.remoteAddress ?? '');
}
