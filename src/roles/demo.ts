// `--demo`: a first start that plays. Invented strategies, attackers and a user send real requests to this very service, on
// paper accounts; what the pages show has happened. The days before were played too: the service was started for each of
// them with its clock set back, on a door of the loopback that nobody else knows, before it opens its port.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Brokers, BrokerUnavailable, type OpenBroker } from '../broker/broker.ts';
import { findListing, quote } from '../broker/paper/market.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { isFresh, migrate } from '../data/engine/migrate.ts';
import { hasUsers } from '../data/identity/users.ts';
import { createChance } from '../demo/chance.ts';
import { type Client, openClient } from '../demo/client.ts';
import { type Desk, type Login, setUpDesk } from '../demo/desk.ts';
import { createMarket } from '../demo/market.ts';
import { createPace } from '../demo/pace.ts';
import { DAY_MS, FULL_DAYS, playDay, playOn, playQuietDays, QUIET_DAYS } from '../demo/play.ts';
import type { Cast, Player, Stage } from '../demo/stage.ts';
import { type Chart, createStrategy } from '../demo/strategy.ts';
import { BROKER_NAMES } from '../domain/brokers.ts';
import { toNumber } from '../domain/decimal.ts';
import { DEFAULT_PAPER_SETTINGS } from '../domain/paper-settings.ts';
import { openLog } from '../log.ts';
import { openDatabase } from './adapters.ts';
import { type Parts, steady } from './foundation.ts';

const SEED = 20_261_112;
const PAST_DAYS = QUIET_DAYS + FULL_DAYS;

/** As much of the service as the demo needs. */
interface Service {
  readonly server: FastifyInstance | null;
  stop(): Promise<void>;
}

export interface Demo {
  readonly config: Config;
  readonly parts: Parts;
  /** What the start prints. */
  welcome(address: string): string;
  /** Plays on, from now on, until it is stopped. */
  begin(server: FastifyInstance): void;
  stop(): Promise<void>;
}

/** Refuses where a demo has no place, plays the past, and says how the service is to be opened for the present. */
export async function prepareDemo(
  given: Config,
  open: (config: Config, parts: Parts) => Promise<Service>,
  print: (text: string) => void,
): Promise<Demo> {
  const problem = problemOf(given) ?? (await problemOfUsers(given));
  if (problem) throw new ConfigError([problem]);
  print(`Fillpath plays the last ${PAST_DAYS} days of its demo; this takes some seconds.`);

  // Mails to an invented user go to the outbox, whatever is configured.
  const config: Config = {
    ...given,
    seedUser: false,
    mail: { ...given.mail, smtpUrl: undefined, verifyEmail: false },
  };
  const login: Login = { email: 'demo@fillpath.local', password: randomBytes(9).toString('base64url') };
  const parts: Parts = { brokers: onlyPaper(), demo: login };
  const chance = createChance(SEED);
  const cast = castOf(chance);
  const closing = new AbortController();
  const wait = (ms: number) => sleep(ms, undefined, { signal: closing.signal });
  const stageAt = (client: Client, desk: Desk, now: () => number, { rateLimit } = config): Stage => ({
    ...{ client, desk, chance, chart, cast, now },
    pace: createPace({ limit: rateLimit, now: steady.now, wait }),
  });

  // Nobody looks for a line of a request of last Tuesday among those of today.
  const pastLog = openLog(config.logLevel === 'info' ? 'warn' : config.logLevel);

  /** With its clock set back, for as long as the work takes. */
  async function inThePast<Result>(
    begin: number,
    work: (client: Client, clock: { now(): number; moveTo(at: number): void }) => Promise<Result>,
    settings = config,
  ): Promise<Result> {
    let behind = Date.now() - begin;
    const clock = {
      now: () => Date.now() - behind,
      moveTo(at: number) {
        behind = Date.now() - at;
      },
    };
    // Leases and limits go by a clock that is not set: only what is written down is of another day.
    const service = await open(settings, { ...parts, clock, ticking: steady, log: pastLog });
    try {
      return await throughDoor(service, (client) => work(client, clock));
    } finally {
      await service.stop();
    }
  }

  const begin = Date.now() - PAST_DAYS * DAY_MS;
  // By the clock on the wall these are many requests in a minute.
  const unlimited = { ...config, rateLimit: { ...config.rateLimit, requests: 10_000 } };
  const desk = await inThePast(
    begin,
    async (client, { now, moveTo }) => {
      const made = await setUpDesk(client, login);
      await playQuietDays(stageAt(client, made, now, unlimited), { from: begin, moveTo });
      return made;
    },
    unlimited,
  );
  for (let day = 0; day < FULL_DAYS; day++) {
    const from = begin + (QUIET_DAYS + day) * DAY_MS;
    await inThePast(from, (client, { now, moveTo }) =>
      playDay(stageAt(client, desk, now), { day, from, moveTo }),
    );
  }

  let client: Client | null = null;
  let playing: Promise<void> | null = null;
  return {
    config,
    parts,
    welcome: (address) => welcome(login, address),
    begin(server) {
      client = openClient(reachable(server.server.address() as AddressInfo));
      const stage = stageAt(client, desk, Date.now);
      playing = playOn(stage, { wait, log: openLog(config.logLevel), signal: closing.signal });
    },
    async stop() {
      closing.abort();
      client?.close();
      await playing;
    },
  };
}

function problemOf({ production, role, data }: Config): string | null {
  if (production)
    return '--demo is refused with NODE_ENV=production: it makes an admin whose password everybody can read';
  if (role !== 'all') return `--demo is refused with ROLE=${role}: it runs in one process`;
  // Other processes would take its orders, and could reach brokers.
  if (data.redisUrl) return '--demo is refused with REDIS_URL: it runs in one process';
  return null;
}

async function problemOfUsers(config: Config): Promise<string | null> {
  const closers: (() => unknown)[] = [];
  try {
    const db = await openDatabase(config, closers);
    // What a refused demo has found is as it was.
    if ((await isFresh(db)) || !(await hasUsers(db))) {
      await migrate(db, Date.now());
      return null;
    }
  } finally {
    for (const close of closers.reverse()) await close();
  }
  const { databaseUrl, dir } = config.data;
  return databaseUrl
    ? '--demo is refused: the database of DATABASE_URL has users; give it an empty one, or none'
    : `--demo is refused: there are users in ${dir}; set DATA_DIR to an empty folder, such as ./demo, or delete that of an earlier demo`;
}

/** Whatever a visitor sets up: no order and no key leaves this machine. */
function onlyPaper(): Partial<Brokers> {
  const refuse: OpenBroker = async () => {
    throw new BrokerUnavailable('This is a demo: it has paper accounts only.');
  };
  return Object.fromEntries(BROKER_NAMES.filter((name) => name !== 'paper').map((name) => [name, refuse]));
}

/** The market of the paper accounts, on which the strategies look. */
const chart: Chart = (symbol, at) => {
  const listing = findListing(symbol);
  if (!listing) throw new Error(`the paper exchange does not list ${symbol}`);
  return toNumber(quote(listing, DEFAULT_PAPER_SETTINGS.seed, at).bid);
};

function castOf(chance: Stage['chance']): Cast {
  const player = (
    account: Player['account'],
    name: string,
    symbol: string,
    ticker: string,
    unit: number,
  ): Player => ({
    account,
    strategy: createStrategy({ name, symbol, ticker, unit }, { chart, chance }),
  });
  return {
    players: [
      player('crypto', 'Pullback', 'BTCUSDT', 'BINANCE:BTCUSDT.P', 0.1),
      player('crypto', 'Pullback', 'ETHUSDT', 'BINANCE:ETHUSDT.P', 2),
      player('futures', 'Night range', 'ES1!', 'CME_MINI:ES1!', 1),
      player('futures', 'Night range', 'GC1!', 'COMEX:GC1!', 1),
    ],
    meddled: player('futures', 'Night range', 'MES1!', 'CME_MINI:MES1!', 1),
    market: createMarket(),
  };
}

/** The service's own routes behind a port of the loopback, while its port is still closed. */
async function throughDoor<Result>(
  { server }: Service,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  if (!server) throw new Error('the demo needs an API');
  await server.ready();
  const door = createServer((request, response) => server.routing(request, response));
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const client = openClient(reachable(door.address() as AddressInfo));
  try {
    return await work(client);
  } finally {
    client.close();
    door.closeAllConnections();
    door.close();
  }
}

/** Where one connects to that listens there. */
const reachable = ({ address, port }: AddressInfo): { host: string; port: number } => ({
  host: ['0.0.0.0', '::'].includes(address) ? '127.0.0.1' : address,
  port,
});

const welcome = ({ email, password }: Login, address: string): string => `
THIS IS A DEMO. Its strategies, its attackers and what its user does are invented, and its accounts are paper accounts. What
you see has happened here: the last ${PAST_DAYS} days with the clock set back, before this start, and the rest while you watch.

  address   ${address}
  API docs  ${address}/docs
  email     ${email}
  password  ${password}
`;
