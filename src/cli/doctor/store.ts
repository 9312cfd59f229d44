// Redis: reached, of a version that we know, and not one that throws out what it was given.

import { Redis } from 'ioredis';
import type { Config } from '../../config/config.ts';
import { type Check, clockFindings, type Finding, found, whyUnreachable } from './finding.ts';

const PATIENCE_MS = 4_000;
const FIRST_VERSION = 7;

export const storeCheck: Check = { area: 'store', about: 'Redis', look: storeFindings };

async function storeFindings({ data: { redisUrl } }: Config): Promise<Finding[]> {
  const nodes = redisUrl?.split(',') ?? [];
  return (await Promise.all(nodes.map(nodeFindings))).flat();
}

async function nodeFindings(url: string): Promise<Finding[]> {
  const wrong = found('store');
  const { host } = new URL(url);
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    enableReadyCheck: false,
  });
  let cause: unknown = null;
  redis.on('error', (fault) => {
    cause = fault;
  });
  try {
    await redis.connect();
    const info = await redis.info();
    const asked = Date.now();
    const [seconds, micros] = (await redis.time()) as [number | string, number | string];
    const answered = Date.now();
    const figure = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    const findings = clockFindings(`Redis at ${host}`, Number(seconds) * 1000 + Number(micros) / 1000, {
      asked,
      answered,
    });
    const version = figure('valkey_version') || figure('redis_version');
    if (Number.parseInt(version, 10) < FIRST_VERSION)
      findings.push(wrong(`Redis at ${host} is ${version}.`, 'Use Redis 7 or newer, or Valkey.'));
    const policy = figure('maxmemory_policy');
    if (policy !== '' && policy !== 'noeviction')
      findings.push(
        wrong(
          `Redis at ${host} evicts keys when its memory is full (maxmemory-policy ${policy}): with each lease or fingerprint lost, a guarantee is lost.`,
          'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
        ),
      );
    const [used, most] = [Number(figure('used_memory')), Number(figure('maxmemory'))];
    if (most > 0 && used > most * 0.8)
      findings.push(
        wrong(
          `Redis at ${host} uses ${Math.round((used / most) * 100)} % of its maxmemory: when it is full, webhooks get 503.`,
          'Raise maxmemory, or see what else is stored in it.',
        ),
      );
    if (figure('role') === 'slave')
      findings.push(
        wrong(
          `Redis at ${host} is a replica, and takes no writes.`,
          'Set REDIS_URL to an address that follows the primary.',
        ),
      );
    return findings;
  } catch (fault) {
    const why = String((cause as Error | null)?.message ?? (fault as Error).message);
    if (/NOAUTH|WRONGPASS|NOPERM/.test(why) || /NOAUTH|WRONGPASS|NOPERM/.test((fault as Error).message))
      return [
        wrong(
          `Redis at ${host} refuses the login.`,
          'Correct the user and the password in REDIS_URL: redis://user:password@host:6379/0.',
        ),
      ];
    return [
      wrong(
        `Redis at ${host} cannot be reached: ${whyUnreachable(cause ?? fault)}.`,
        'Start it, correct REDIS_URL, or let the connection through; rediss:// is for one with TLS.',
      ),
    ];
  } finally {
    redis.disconnect();
  }
}
