// The client's address through the trusted proxy chain: the rightmost one of X-Forwarded-For that is not a trusted
// proxy. What stands further left was written by strangers and changes nothing.

import type { FastifyRequest } from 'fastify';
import { canonicalIp, type IpList } from '../app/accounts/ip-list.ts';

export interface ProxySettings {
  readonly trustedProxies: IpList;
  /** In production: a trusted proxy that names nobody at all does not speak for itself. */
  readonly mustName: boolean;
}

export function clientIp({ headers, socket }: FastifyRequest, settings: ProxySettings): string {
  const { trustedProxies, mustName } = settings;
  const peer = canonicalIp(socket.remoteAddress ?? '') ?? '0.0.0.0';
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined) {
    const isSilent = mustName || headers.forwarded !== undefined;
    return isSilent && trustedProxies.has(peer) ? unknownVia(peer) : peer;
  }
  const chain = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',');
  let client = peer;
  while (trustedProxies.has(client) && chain.length > 0) {
    const next = canonicalIp(withoutPort(chain.pop() ?? ''));
    if (next === null) return unknownVia(client);
    client = next;
  }
  return client;
}

/**
 * Not the proxy's own address, which may be an admin's: of a client that nobody named we know only who did not name it.
 * It is no address, and so it is on no list, whatever that allows.
 */
const unknownVia = (proxy: string): string => `unknown via ${proxy}`;

/** Some proxies forward "1.2.3.4:5678" and "[::1]:80". A bare IPv6 address may end in what only looks like a port. */
const withoutPort = (text: string): string =>
  text.trim().replace(/^(?:\[([^[\]]*)\]|([\d.]+))(?::\d{1,5})?$/, '$1$2');

/**
 * The edge says so of its client (deploy/edge), and strips what clients say themselves. One word, and from a trusted proxy: two
 * of them, which Node joins, were not written by the same hand.
 */
export function hasPlatformCertificate({ headers, socket }: FastifyRequest, trustedProxies: IpList): boolean {
  const peer = canonicalIp(socket.remoteAddress ?? '') ?? '';
  return headers['x-charting-client-cert'] === 'verified' && trustedProxies.has(peer);
}

/** It names an address that we must not believe: a proxy stands in front that nobody told us of. */
export function isForwardedByStranger({ headers, socket }: FastifyRequest, trustedProxies: IpList): boolean {
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return isForwarded && !trustedProxies.has(socket.remoteAddress ?? '');
}
