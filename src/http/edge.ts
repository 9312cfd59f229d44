// The built-in edge: what a firewall in front would do, for a service without one. Per address, exact sliding windows;
// memory is bounded whatever the number of addresses. EDGE=external leaves all of it to the front.

import type { FastifyRequest } from 'fastify';
import { canonicalBlock } from '../app/accounts/ip-block.ts';
import type { IpList } from '../app/accounts/ip-list.ts';
import { CallLog } from '../domain/call-log.ts';
import { type Denial, deny } from '../domain/denial.ts';

export interface Edge {
  readonly chartingIps: IpList;
  /** Of one address in a window: over the three paths of a person together, and as many over those of programs and codes. */
  readonly authLimit: number;
  /** Of one address in a window, over everything. */
  readonly rateLimit: number;
  readonly windowMs: number;
  ipOf(request: FastifyRequest): string;
  /** Steady: a step of the wall clock must not free or block anybody. */
  now(): number;
}

/** Apart, so that programs that fetch tokens keep nobody behind the same address from logging in. */
const AUTH_PATHS = [
  new Set(['/auth/login', '/auth/register', '/auth/forgot-password']),
  new Set(['/auth/token', '/auth/login/totp']),
];

/** Counts the request, and refuses it where its address has had enough. */
export function openEdge(edge: Edge): (request: FastifyRequest) => Denial | null {
  const overall = createLimit(edge.rateLimit, edge.windowMs);
  const auth = AUTH_PATHS.map((paths) => ({ paths, limit: createLimit(edge.authLimit, edge.windowMs) }));
  return (request) => {
    const ip = edge.ipOf(request);
    // The route rather than the path, which has many spellings; the path where there is no such route.
    const route = request.routeOptions.url ?? request.url;
    if (route.startsWith('/webhook/') && edge.chartingIps.has(ip)) return null;
    const now = edge.now();
    const ofAuth = auth.find(({ paths }) => paths.has(route));
    const waitMs = overall(ip, now) || (ofAuth?.limit(ip, now) ?? 0);
    return waitMs > 0 ? deny('edge_rate_limited', { retryAfter: Math.ceil(waitMs / 1000) }) : null;
  };
}

/** What a whole /48 of IPv6 may do, in clients: it may be one customer's, or some people's. */
const CLIENTS_OF_NETWORK = 4;

/** Who has one IPv6 address has a whole /64 of them, and is one client all the same; who has a /48 has 65,536 of those. */
function createLimit(limit: number, windowMs: number): (ip: string, now: number) => number {
  const windows = createWindows(limit, windowMs);
  return (ip, now) => {
    const client = ip.includes(':') ? canonicalBlock(`${ip}/64`) : null;
    if (client === null) return windows.count(ip, now);
    // The client first: what is refused of it counts for nothing, and uses up nothing of its neighbours.
    const waitMs = windows.count(client, now);
    const network = canonicalBlock(`${ip}/48`) ?? ip;
    return waitMs || windows.count(network, now, limit * CLIENTS_OF_NETWORK);
  };
}

/** Of those heard of last, and of all their counted requests together: some 64 MB. */
const MOST = { addresses: 100_000, places: 8_000_000 };

interface Generation {
  readonly logs: Map<string, CallLog>;
  places: number;
}

const noGeneration = (): Generation => ({ logs: new Map(), places: 0 });

/**
 * One exact window per address. An address that is heard of belongs to the young generation; as soon as that is half of
 * what may be held, the one before it is forgotten. (A list by the time of the last request would forget more exactly,
 * but a Map that is used as one gets slow: its first entry has to be looked for behind all that were deleted.)
 */
export function createWindows(limit: number, windowMs: number, bounds = MOST) {
  let young = noGeneration();
  let old = noGeneration();
  return {
    /** 0: counted and allowed. Otherwise the milliseconds until the next one is allowed. */
    count(ip: string, now: number, most = limit): number {
      let log = young.logs.get(ip);
      if (!log) {
        log = old.logs.get(ip) ?? new CallLog(now + windowMs);
        if (old.logs.delete(ip)) old.places -= log.places;
        young.logs.set(ip, log);
        young.places += log.places;
      }
      const before = log.places;
      const { retryAfterMs } = log.count(now, most, windowMs);
      young.places += log.places - before;
      if (young.logs.size >= bounds.addresses / 2 || young.places >= bounds.places / 2) {
        old = young;
        young = noGeneration();
      }
      return retryAfterMs;
    },
    /** What is held; of places at most one address's more than the bound. */
    size: () => ({
      addresses: young.logs.size + old.logs.size,
      places: young.places + old.places,
    }),
  };
}
