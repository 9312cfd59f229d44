// The built-in edge: what a firewall in front would do, for a service without one. Per address, exact sliding windows;
// memory is bounded whatever the number of addresses. EDGE=external leaves all of it to the front.

import type { FastifyRequest } from 'fastify';
import type { IpList } from '../app/ip-list.ts';
import { CallLog } from '../domain/call-log.ts';
import { type Denial, deny } from '../domain/denial.ts';

export interface Edge {
  readonly chartingIps: IpList;
  /** Of one address in a window, over the three auth paths together. */
  readonly authLimit: number;
  /** Of one address in a window, over everything. */
  readonly rateLimit: number;
  readonly windowMs: number;
  ipOf(request: FastifyRequest): string;
  /** Steady: a step of the wall clock must not free or block anybody. */
  now(): number;
}

const AUTH_PATHS = new Set(['/auth/login', '/auth/register', '/auth/forgot-password']);

/** Counts the request, and refuses it where its address has had enough. */
export function openEdge(edge: Edge): (request: FastifyRequest) => Denial | null {
  const overall = createWindows(edge.rateLimit, edge.windowMs);
  const auth = createWindows(edge.authLimit, edge.windowMs);
  return (request) => {
    const ip = edge.ipOf(request);
    // The route rather than the path, which has many spellings; the path where there is no such route.
    const route = request.routeOptions.url ?? request.url;
    if (route.startsWith('/webhook/') && edge.chartingIps.has(ip)) return null;
    const now = edge.now();
    const waitMs = overall.count(ip, now) || (AUTH_PATHS.has(route) ? auth.count(ip, now) : 0);
    return waitMs > 0 ? deny('edge_rate_limited', { retryAfter: Math.ceil(waitMs / 1000) }) : null;
  };
}

/** Of those heard of last, and of all their counted requests together: some 64 MB. */
const MOST = { addresses: 100_000, places: 8_000_000 };

/** One exact window per address. Where memory ends, the address heard of longest ago is forgotten. */
export function createWindows(limit: number, windowMs: number, most = MOST) {
  // A Map keeps the order of insertion, so the first one is the one heard of longest ago.
  const addresses = new Map<string, CallLog>();
  let places = 0;
  return {
    /** 0: counted and allowed. Otherwise the milliseconds until the next one is allowed. */
    count(ip: string, now: number): number {
      const log = addresses.get(ip) ?? new CallLog(now + windowMs);
      addresses.delete(ip);
      addresses.set(ip, log);
      const before = log.places;
      const { retryAfterMs } = log.count(now, limit, windowMs);
      places += log.places - before;
      for (const [oldest, { places: freed }] of addresses) {
        if (addresses.size <= most.addresses && places <= most.places) break;
        addresses.delete(oldest);
        places -= freed;
      }
      return retryAfterMs;
    },
    /** What is held; never more than the bounds. */
    size: () => ({ addresses: addresses.size, places }),
  };
}
