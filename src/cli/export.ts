// Orders as a file: read page by page, with never more than a page in memory, whatever the history is long.

import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { readUsers } from '../app/operation/admin.ts';
import { findUser } from '../app/operation/operator.ts';
import { type OrderFilter, readOrders } from '../app/orders/read-orders.ts';
import { pagesOf } from '../app/pages.ts';
import { accountsNamed } from '../data/accounts/accounts.ts';
import { type Denial, deny, isDenial } from '../domain/denial.ts';
import type { OrderId, UserId } from '../domain/ids.ts';
import type { OrderSummary } from '../domain/orders/result.ts';
import { headerLine, rowLine } from '../http/csv.ts';
import { ORDERS_CSV } from '../http/csv-columns.ts';
import { asOperator, type Operator } from '../roles/operator.ts';
import { type AddCommands, examples, notATime, refused, timeOf } from './desk.ts';
import { type ExitCode, type Output, openOutput } from './output.ts';

interface ExportOptions {
  readonly format: string;
  readonly user?: string;
  readonly account?: string;
  readonly from?: string;
  readonly to?: string;
  readonly output?: string;
}

interface Format {
  readonly head: string;
  line(order: OrderSummary): string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  csv: { head: headerLine(ORDERS_CSV), line: (order) => rowLine(ORDERS_CSV, order) },
  jsonl: { head: '', line: (order) => `${JSON.stringify(order)}\n` },
};

export const exporting: AddCommands = (noun, { output, config, giveWay, does }) => {
  noun
    .command('orders')
    .description('all orders, or those of a user, an account or a time; each user’s newest first')
    .option('--format <format>', 'csv, with the columns of the API, or jsonl: one order per line', 'csv')
    .option('--user <user>', 'only this user’s, by email address or id')
    .option('--account <account>', 'only this account’s, by name or id')
    .option('--from <time>', 'submitted then or later')
    .option('--to <time>', 'submitted then or earlier')
    .option('-o, --output <file>', 'write to this file, readable by its owner only, instead of stdout')
    .addHelpText(
      'after',
      examples(
        'export orders -o orders.csv',
        'export orders --format jsonl --from 2026-01-01 | gzip > orders.jsonl.gz',
      ),
    )
    .action(
      does(async (options: ExportOptions) => {
        const format = Object.hasOwn(FORMATS, options.format) ? FORMATS[options.format] : undefined;
        if (!format) {
          output.complain(`--format is one of ${Object.keys(FORMATS).join(', ')}.`);
          return 2;
        }
        const [from, to] = [timeOf(options.from), timeOf(options.to)];
        if (from === undefined || to === undefined) return notATime(output, '--from', '--to');
        giveWay?.();
        return asOperator<ExitCode>(config(), 'export orders', async (operator) => {
          const whose = await whoseOrders(operator, options);
          if (isDenial(whose)) return refused(output, whose);
          const filter = { ...whose.filter, ...(from ? { from } : {}), ...(to ? { to } : {}) };
          const count = await intoFile(output, options.output, (write) =>
            writeOrders(operator, { users: whose.users, filter, format, write, output }),
          );
          if (options.output !== undefined) output.complain(`${count} orders in ${options.output}`);
          return 0;
        });
      }),
    );
};

interface Whose {
  readonly users: AsyncIterable<UserId> | Iterable<UserId>;
  readonly filter: OrderFilter;
}

async function whoseOrders(operator: Operator, { user, account }: ExportOptions): Promise<Whose | Denial> {
  const found = user === undefined ? null : await findUser(operator, user);
  if (found && isDenial(found)) return found;
  if (account === undefined) return { users: found ? [found.id] : everybody(operator), filter: {} };
  const named = await accountsNamed(operator.db, account, { limit: MOST_NAMED, withDeleted: true });
  const [only, ...more] = found ? named.filter(({ userId }) => userId === found.id) : named;
  if (!only) return deny('not_found', { detail: 'There is no such trading account.' });
  if (more.length > 0)
    return deny('request_invalid', {
      detail: `Several accounts have this name: name one by its id, or its user.\n${[only, ...more]
        .map(({ id, userId }) => `  ${id} of user ${userId}`)
        .join('\n')}`,
    });
  return { users: [only.userId], filter: { accountId: only.id } };
}

const MOST_NAMED = 20;

async function* everybody(operator: Operator): AsyncGenerator<UserId> {
  for await (const { items } of pagesOf((page) => readUsers(operator, { ...page, email: null })))
    for (const { id } of items) yield id;
}

async function writeOrders(
  { db }: Operator,
  {
    users,
    filter,
    format,
    write,
    output,
  }: Whose & { format: Format; write: (text: string) => Promise<void>; output: Output },
): Promise<number> {
  const progress = output.progress();
  let count = 0;
  try {
    if (format.head !== '') await write(format.head);
    for await (const user of users)
      for await (const { items } of pagesOf(({ cursor, limit }) =>
        readOrders({ db }, user, { filter, cursor: cursor as OrderId | null, limit }),
      )) {
        if (items.length > 0) await write(items.map(format.line).join(''));
        count += items.length;
        progress.tell(`${count} orders`);
      }
    return count;
  } finally {
    progress.end();
  }
}

/** Whole or not at all: what was cut off has another name. */
async function intoFile(
  output: Output,
  file: string | undefined,
  work: (write: (text: string) => Promise<void>) => Promise<number>,
): Promise<number> {
  if (file === undefined) return work(output.write);
  const draft = `${file}.${process.pid}.part`;
  const stream = createWriteStream(draft, { mode: 0o600, flags: 'wx' });
  const done = finished(stream);
  done.catch(() => {});
  try {
    const { write } = openOutput({ out: stream, err: stream });
    // A disk that is full says so to `done`, and would let a write wait for ever.
    const count = await Promise.race([work(write), done.then(() => 0)]);
    stream.end();
    await done;
    await rename(draft, file);
    return count;
  } catch (fault) {
    stream.destroy();
    await rm(draft, { force: true });
    throw fault;
  }
}
