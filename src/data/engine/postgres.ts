// PostgreSQL, for more than one process or machine. A group is sent in one go and answered in one go: BEGIN, the units,
// COMMIT, without waiting in between. A guard is checked by the server: its statement is wrapped so that it raises an
// error when it changes no row, or finds none to hold, or fewer than it must. Units that do the same are sent as one
// (postgres-alike.ts). So one failed unit makes COMMIT a rollback, and the group is sent once more, now one by one, with
// savepoints that undo a failed unit and keep a good one by the same two commands:
//
//   savepoint unit; …the first unit…;   savepoint unit; rollback to unit; …the second…;   savepoint unit; …
//
// After a good unit the second `savepoint` hides the first, and `rollback to` goes back to just there: nothing is lost.
// After a failed one `savepoint` fails too, and `rollback to` goes back to before the unit. (Savepoints every time would
// be simpler, and cost a third of the throughput.)

import { Query as DriverQuery, type Pool, type PoolClient } from 'pg';
import { type Counters, UNCOUNTED } from '../../domain/counters.ts';
import { type Db, LIST_MS, ListTooSlow, NotCommitted, type Statement, sql } from './db.ts';
import { giveWay } from './give-way.ts';
import { groupCommit, type Outcome, type Unit, type Waiting } from './group-commit.ts';
import { ALL_HEARD, inOneTurn } from './in-one-turn.ts';
import { type AskServer, alikeUnits } from './postgres-alike.ts';
import {
  COLLISIONS,
  codeOf,
  fault,
  isGuardFailure,
  isTooSlow,
  READ_ONLY,
  STALE,
  spoils,
  undone,
} from './postgres-faults.ts';
import { CONNECT_MS, openPool } from './postgres-pool.ts';
import { scriptsOn } from './postgres-scripts.ts';
import { type Query, statementQueries } from './postgres-statements.ts';

// One group at a time: a second one beside it mostly waited for the first one's row locks, or deadlocked with it (64
// orders of 2 or 50 users at once: no gain; 256: 30 times slower). More processes still work in parallel.
/** The server shows up to 64 subtransactions of a session in shared memory; with more, all others get slower. */
const MOST_UNITS = 64;
/** For the few units that collided with another process. */
const LANES_ALONE = 3;
const ATTEMPTS_ALONE = 4;
/** Of the hot path: who is asking, an order by its id. Commits have connections of their own beside them. */
const READ_CONNECTIONS = 4;
/** On one connection, and answered together: one that takes long holds up so many others, and no more. */
const MOST_TOGETHER = 8;
/** Whatever lists do, they do it to each other. */
const LIST_CONNECTIONS = 2;
/** Longer than the server's own limit: this one is for a server that cannot say anything any more. */
const ANSWER_MS = 15_000;

/** The lists' own limit is the server's: it stops working for a list that nobody waits for any more. */
const LISTS = `set statement_timeout = ${LIST_MS}; set default_transaction_read_only = on`;

/**
 * Units name their rows by keys. Each of their statements is planned once for each connection, by indexes: a plan that was made by the size of a
 * table of then would go through all of it once it has grown.
 */
const BY_KEYS = 'set plan_cache_mode = force_generic_plan; set jit = off; set enable_seqscan = off';
/** So does what is read on their way, though not all of it by keys alone: how it is joined is left to the server. */
const BY_INDEXES = 'set jit = off; set enable_seqscan = off';

const BEGIN = 'begin isolation level read committed';
// Two processes can lock the same rows in different order. The deadlock detector needs a second to see it, and a lock
// can be held for longer; a group does not wait for either: the unit is undone and tried again alone.
const BEGIN_GROUP = `${BEGIN}; set local lock_timeout = '100ms'`;
/** Once more, unit by unit: each of them may wait, and all that came before it hold what they have locked. */
const BEGIN_APART = `${BEGIN}; set local lock_timeout = '10ms'`;

/** `readOnly`: for who only looks, also at a standby. */
export async function openPostgres({
  url,
  readOnly = false,
  poolSize = READ_CONNECTIONS,
  counters = UNCOUNTED,
}: {
  url: string;
  readOnly?: boolean;
  poolSize?: number;
  counters?: Counters;
}): Promise<Db> {
  const open = (max: number, session: string, waitMs = CONNECT_MS) =>
    openPool(url, { max, waitMs, session, readOnly });
  const commits = open(1 + LANES_ALONE, BY_KEYS);
  const reads = open(poolSize, BY_INDEXES);
  const lists = open(LIST_CONNECTIONS, LISTS, LIST_MS);

  const pools = { commits, reads, lists };
  const names = new Map(Object.entries(pools).map(([name, pool]) => [pool, name]));
  for (const [pool, name] of names) counters.watchPool(name, () => pool.waitingCount);

  const statements = statementQueries();
  const { queryOf } = statements;
  const alike = alikeUnits(statements);

  /** `spoil`: nobody is to have this connection after us. */
  async function withClient<T>(
    pool: Pool,
    use: (client: PoolClient, spoil: () => void) => Promise<T>,
  ): Promise<T> {
    const asked = performance.now();
    const client = await pool.connect();
    counters.poolWaited(names.get(pool) ?? '', performance.now() - asked);
    let spoilt = false;
    try {
      return await use(client, () => {
        spoilt = true;
      });
    } catch (error) {
      spoilt ||= spoils(error);
      throw error;
    } finally {
      // Never hand on an open transaction, whatever went wrong.
      client.release(spoilt || client.getTransactionStatus() !== 'I');
    }
  }

  async function rowsOf<Row>(pool: Pool, query: Statement, answerMs: number): Promise<Row[]> {
    const config: Query = { ...queryOf(query), query_timeout: answerMs };
    const ask = (question: Query) => withClient(pool, (client) => rowByRow<Row>(client, question));
    return ask(config).catch((error) => {
      if (STALE.has(codeOf(error))) return ask({ ...config, name: undefined });
      throw error;
    });
  }

  /** What is asked at one moment goes out on few connections, and each of them is waited for once. */
  const together = inOneTurn(rowsOfEach, { moment: ALL_HEARD, most: MOST_TOGETHER });

  /** Each is answered, or fails, by itself. */
  function rowsOfEach(asked: readonly Statement[]): Promise<readonly PromiseSettledResult<object[]>[]> {
    return withClient(reads, async (client, spoil) => {
      const { stream } = client.connection;
      stream.cork();
      const questions = asked.map((query) =>
        rowByRow<object>(client, { ...queryOf(query), query_timeout: ANSWER_MS }),
      );
      stream.uncork();
      const answers = await Promise.allSettled(questions);
      if (answers.some((answer) => answer.status === 'rejected' && spoils(answer.reason))) spoil();
      return answers;
    }).catch((reason: unknown) => asked.map(() => ({ status: 'rejected', reason })));
  }

  async function read<Row>(query: Statement): Promise<Row[]> {
    try {
      const answer = await together(query);
      if (answer.status === 'fulfilled') return answer.value as Row[];
      if (!STALE.has(codeOf(answer.reason))) throw answer.reason;
      return await rowsOf<Row>(reads, query, ANSWER_MS);
    } catch (error) {
      throw fault(error);
    }
  }

  const list = <Row>(query: Statement): Promise<Row[]> =>
    rowsOf<Row>(lists, query, LIST_MS + 1_000).catch((error) => {
      throw isTooSlow(error) ? new ListTooSlow(error.message, { cause: error }) : fault(error);
    });

  /** Sends all and waits once. Answers come in the order of the queries, COMMIT's is the last. */
  function send(client: PoolClient, begin: string, units: readonly Unit[], apart: boolean): Promise<Answers> {
    const failures: Outcome[] = [];
    return new Promise((resolve) => {
      const { stream } = client.connection;
      stream.cork();
      client.query(apart ? `${begin}; savepoint unit` : begin, (error: Error | null) => {
        if (error) failures.push(...units.map(() => ({ fault: error })));
      });
      if (!apart && units.length > 1) {
        // Each fails with all others: nobody asks which it was.
        const failed = (error: Error | null) => {
          if (error) failures.push(...units.map(() => ({ fault: error })));
        };
        for (const query of alike.queriesOf(units)) client.query(query, failed);
      } else
        for (const [index, unit] of units.entries())
          sendUnit(client, unit, apart, (failure) => (failures[index] ??= failure));
      const commit: Query = { text: 'commit', query_timeout: ANSWER_MS };
      client.query(commit, (error: Error | null, result) => {
        // COMMIT of a failed transaction succeeds, and says what it was.
        const rolledBack = !error && result.command === 'ROLLBACK';
        const lost = error ?? (rolledBack ? new Error('the transaction was rolled back') : null);
        const outcomes = units.map((_unit, index): Outcome => {
          // Even a failed guard: it may have failed because of a neighbour that is undone now.
          if (lost && units.length > 1) return { fault: lost };
          return failures[index] ?? (lost ? { fault: lost } : { guard: null });
        });
        resolve({ rolledBack, answered: !error, outcomes });
      });
      stream.uncork();
    });
  }

  /** `failed`: what follows a failure in the same unit fails because of it. */
  function sendUnit(
    client: PoolClient,
    unit: Unit,
    apart: boolean,
    failed: (failure: Outcome) => void,
  ): void {
    for (const statement of unit) {
      const { guard } = statement;
      client.query(queryOf(statement), (error: Error | null) => {
        if (error) failed(guard !== undefined && isGuardFailure(error) ? { guard } : { fault: error });
      });
    }
    if (!apart) return;
    client.query('savepoint unit', (error: Error | null) => error && failed({ fault: error }));
    client.query('rollback to unit', () => {});
  }

  /** A collision is told apart: the unit was undone and can be tried again. */
  async function attempt(group: readonly Waiting[], begin: string): Promise<(Outcome | 'collision')[]> {
    const units = group.map(({ unit }) => unit);
    try {
      const { answered, outcomes } = await withClient(commits, async (client, spoil) => {
        const ask: AskServer = async (text, values) => {
          const question: Query = { text, query_timeout: ANSWER_MS, ...(values && { values: [...values] }) };
          return (await client.query<Record<string, string>>(question)).rows;
        };
        if (units.length > 1) await alike.learn(units, ask);
        let answers = await send(client, begin, units, false);
        if (answers.rolledBack && units.length > 1) answers = await send(client, BEGIN_APART, units, true);
        // The next connection may be to the primary, or from after what made this one so.
        if (answers.outcomes.some((outcome) => 'fault' in outcome && codeOf(outcome.fault) === READ_ONLY))
          spoil();
        return answers;
      });
      return outcomes.map((outcome) => {
        if (!('fault' in outcome)) return outcome;
        if (COLLISIONS.has(codeOf(outcome.fault))) return 'collision';
        return { fault: answered ? undone(outcome.fault) : fault(outcome.fault) };
      });
    } catch (error) {
      // There was no connection to send anything on, or it was lost before.
      throw undone(error);
    }
  }

  async function runGroup(group: readonly Waiting[]): Promise<void> {
    const outcomes = await attempt(group, BEGIN_GROUP);
    for (const [index, { unit, settle }] of group.entries()) {
      const outcome = outcomes[index] ?? 'collision';
      if (outcome !== 'collision') settle(outcome);
      else
        alone.commit(unit).then(
          (guard) => settle({ guard }),
          (fault) => settle({ fault }),
        );
    }
  }

  async function runAlone(group: readonly Waiting[]): Promise<void> {
    for (let attempts = 0; attempts < ATTEMPTS_ALONE; attempts++) {
      const [outcome] = await attempt(group, BEGIN);
      if (outcome && outcome !== 'collision') return group[0]?.settle(outcome);
    }
    throw new NotCommitted(`The rows were locked by others, ${ATTEMPTS_ALONE} times in a row.`);
  }

  const scripts = scriptsOn({ connect: () => commits.connect(), queryOf, fault });
  const groups = groupCommit({ most: MOST_UNITS, lanes: 1, run: runGroup, counters });
  const alone = groupCommit({ most: 1, lanes: LANES_ALONE, run: runAlone, counters: UNCOUNTED });
  let closing: Promise<void> | undefined;

  const db: Db = {
    dialect: 'postgres',
    all: read,
    async get<Row>(query: Statement) {
      return (await read<Row>(query))[0];
    },
    lists: {
      all: list,
      async get<Row>(query: Statement) {
        return (await list<Row>(query))[0];
      },
    },
    commit: groups.commit,
    scripts,
    script: (text) => scripts(Number.POSITIVE_INFINITY, ({ script }) => script(text)),
    close() {
      closing ??= groups
        .close()
        .then(() => alone.close())
        .then(() => Promise.all(Object.values(pools).map((pool) => pool.end())))
        .then(() => {});
      return closing;
    },
  };
  try {
    await read(sql`select 1`);
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}

interface Answers {
  /** For certain: nothing was written. */
  readonly rolledBack: boolean;
  /** Else COMMIT may have been carried out, or still be. */
  readonly answered: boolean;
  readonly outcomes: Outcome[];
}

/** A page of a list takes the driver several ms to read: a thread that only reads gives way after every row. */
const rowByRow = <Row>(client: PoolClient, { query_timeout, ...config }: Query): Promise<Row[]> =>
  new Promise((resolve, reject) => {
    giveWay();
    const query = new DriverQuery<Row & object>(config, (error, result) =>
      error ? reject(error) : resolve(result.rows),
    );
    query.on('row', giveWay);
    client.query(Object.assign(query, { query_timeout }));
  });
