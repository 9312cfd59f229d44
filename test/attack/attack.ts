// Everything that an attack once got, done again from outside against the product as it is run: `npm run test:attack`.
// It prints what each gets now, and fails where one is open. `-- --items 1,5` does only those, `-- --where PostgreSQL` only
// what is done there; `-- --against DIR` does it to another checkout, which need not withstand.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_PLANS } from '../../src/domain/orders/entitlement.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { RedisMissing, startRedis } from '../servers/redis.ts';
import type { Attack, Outcome } from './attacks.ts';
import { openBrokerCapacity } from './broker-capacity.ts';
import { openDesk } from './desk.ts';
import { firstAdmin, lockFile, packages } from './doors.ts';
import { connections, readers } from './exhaustion.ts';
import { figuresTable } from './figures.ts';
import { forEver, forgedAnswers, forgedLog, liftedLock, movedSecret } from './inside.ts';
import { neighbours } from './neighbours.ts';
import { deletedPosition, guesses, keyAfterReset, lapsed, stolenKey, usedUpSignal } from './owners.ts';
import { CONFIRMING, ofAddresses, ofPrincipals } from './principals.ts';
import { type Setting, startProduct } from './product.ts';
import { diary, ipv6Site, oddities, passwordFlood, rehearsals, rubbish, tokenLimit } from './strangers.ts';
import { noticedThief, plantedBackup, revivedKey } from './theft.ts';

const { values } = parseArgs({
  options: { against: { type: 'string' }, items: { type: 'string' }, where: { type: 'string' } },
});
const checkout = values.against ?? join(import.meta.dirname, '../..');
const items = values.items?.split(',').map(Number);

interface Round {
  readonly name: string;
  readonly setting: Omit<Setting, 'checkout'>;
  /** In this order: the last ones leave nothing whole. */
  readonly attacks: readonly Attack[];
}

/** A plan whose day is short enough to be used up here. */
const plans = { ...DEFAULT_PLANS, small: { simulation_only: false, daily_orders: 3 } };
const PLANS = { PLANS: JSON.stringify(plans) };
/** Only so that there is enough to measure: what is measured is what others do to it. */
const OFTEN = { RATE_LIMIT_REQUESTS: '100000' };
const CARELESS = { SEED_USER: 'false', TRUSTED_PROXIES: '127.0.0.1/32' };

const EACH = [
  ...[firstAdmin, rubbish, rehearsals, stolenKey, keyAfterReset, usedUpSignal, deletedPosition, lapsed],
  ...[
    forEver,
    tokenLimit,
    ipv6Site,
    passwordFlood,
    guesses,
    movedSecret,
    lockFile,
    packages,
    oddities,
    diary,
  ],
  ...ofPrincipals,
  ...[noticedThief, revivedKey, plantedBackup],
  ...[forgedAnswers, liftedLock, forgedLog],
];

async function rounds(): Promise<Round[]> {
  const embedded = (['default', 'production'] as const).flatMap((mode): Round[] => [
    { name: `${mode}, under load`, setting: { mode, env: OFTEN }, attacks: [readers] },
    {
      name: `${mode}, with 1,024 file handles`,
      setting: { mode, env: OFTEN, handles: 1_024 },
      attacks: [connections],
    },
    {
      name: mode,
      setting: { mode, env: PLANS },
      // With the defaults there is an admin from the start.
      attacks: mode === 'production' ? EACH : EACH.filter((attack) => attack !== firstAdmin),
    },
    { name: `${mode}, confirming addresses`, setting: { mode, env: CONFIRMING }, attacks: ofAddresses },
  ]);
  const careless: Round = {
    name: 'default, behind a proxy',
    setting: { mode: 'default', env: CARELESS },
    attacks: [firstAdmin],
  };
  const million: Round = {
    name: 'default, a long history',
    setting: { mode: 'default', env: OFTEN },
    attacks: [neighbours],
  };
  const apart = await overServers();
  return [...embedded, careless, million, ...apart, ...(await atABroker(apart))];
}

const stops: (() => Promise<void>)[] = [];

/** A database and a store of its own. */
async function servers(): Promise<{ DATABASE_URL: string; REDIS_URL: string }> {
  const [postgres, redis] = [await startPostgres(), await startRedis()];
  stops.push(postgres.stop, redis.stop);
  return { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
}

async function overServers(): Promise<Round[]> {
  try {
    const plain = { ...PLANS, RESPONSE_WAIT_SECONDS: '4' };
    return [
      {
        name: 'PostgreSQL and Redis, a long history',
        setting: { mode: 'servers', env: { ...OFTEN, ...(await servers()) } },
        attacks: [neighbours],
      },
      {
        name: 'PostgreSQL and Redis, confirming addresses',
        setting: { mode: 'servers', env: { ...plain, ...CONFIRMING, ...(await servers()) } },
        attacks: ofAddresses,
      },
      {
        name: 'PostgreSQL and Redis',
        setting: { mode: 'servers', env: { ...plain, ...(await servers()) } },
        attacks: EACH,
      },
    ];
  } catch (fault) {
    if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
    console.log(`Nothing is done over PostgreSQL and Redis: ${fault.message}`);
    return [];
  }
}

/** Each over an exchange that counts what it is asked. */
async function atABroker(apart: readonly Round[]): Promise<Round[]> {
  // A database is opened with the keys that it was made with: this one is made for it.
  const settings = [
    { mode: 'default', env: {} } as const,
    ...(apart.length > 0 ? [{ mode: 'servers', env: await servers() } as const] : []),
  ];
  return Promise.all(
    settings.map(async ({ mode, env }): Promise<Round> => {
      const broker = await openBrokerCapacity();
      stops.push(broker.stop);
      const setting = { mode, env: { ...env, ...OFTEN, ...broker.env } };
      return { name: `${mode}, at a broker that counts`, setting, attacks: broker.attacks };
    }),
  );
}

const isChosen = ({ item }: Attack): boolean => items?.includes(item) ?? true;
const results: { round: string; attack: Attack; outcome: Outcome }[] = [];

async function carryOut({ name, setting, attacks }: Round): Promise<void> {
  if (!name.startsWith(values.where ?? '')) return;
  const chosen = attacks.filter((attack) => attack.modes.includes(setting.mode) && isChosen(attack));
  if (chosen.length === 0) return;
  console.log(`\n## ${name}\n`);
  const product = await startProduct({ checkout, ...setting });
  const desk = await openDesk(product);
  try {
    for (const attack of chosen) {
      const begun = performance.now();
      const outcome = await attack
        .run(desk)
        .catch(
          (fault: Error): Outcome => ({ got: `it could not be done: ${fault.message}`, isClosed: false }),
        );
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      console.log(`${outcome.isClosed ? 'closed' : 'OPEN  '} ${attack.item}. ${attack.title} (${seconds} s)`);
      const table = outcome.table ?? (outcome.figures && figuresTable(outcome.figures));
      if (table) console.log(`\n${table}\n`);
      results.push({ round: name, attack, outcome });
    }
  } finally {
    desk.close();
    await product.stop();
  }
}

const begun = performance.now();
try {
  for (const round of await rounds()) await carryOut(round);
} finally {
  for (const stop of stops) await stop();
}
console.log('\n| | where | attack | it got | it gets now | |\n|---|---|---|---|---|---|');
for (const { round, attack, outcome } of results.toSorted((a, b) => a.attack.item - b.attack.item)) {
  const { item, title, before } = attack;
  console.log(
    `| ${item} | ${round} | ${title} | ${before} | ${outcome.got} | ${outcome.isClosed ? 'closed' : 'OPEN'} |`,
  );
}
const open = results.filter(({ outcome }) => !outcome.isClosed).length;
console.log(
  `\n${results.length} attacks, ${open} open, in ${Math.round((performance.now() - begun) / 1000)} s`,
);
process.exitCode = open > 0 && values.against === undefined ? 1 : 0;
