// Lists as CSV: all of a list, readable by any spreadsheet and run by none, in little memory.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Csv, rowLine } from '../../src/http/csv.ts';
import { openGroup } from '../orders/group-desk.ts';
import { openWorld, type Problem, type Trader, type World } from '../world.ts';

const CSV = { accept: 'text/csv' };

/** RFC 4180, to the letter. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  assert.equal(
    rows
      .map((cells) => cells.map(quotedAgain).join(','))
      .join('\r\n')
      .concat('\r\n'),
    text,
  );
  return rows;
}
const quotedAgain = (cell: string) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

async function csv(world: World, trader: Trader, url: string) {
  const { status, headers, body } = await world.as<string>(trader, 'GET', url, undefined, CSV);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present');
  const [header = [], ...rows] = rowsOf(body);
  const records = rows.map((cells) =>
    Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])),
  );
  return { file: headers['content-disposition'], header, records };
}

const insertEntries = (
  world: World,
  trader: Trader,
  entries: readonly { action: string; userAgent: string }[],
) =>
  world.db.commit(
    entries.map(
      ({
        action,
        userAgent,
      }) => sql`insert into audit_logs (user_id, action, success, ip_address, user_agent, metadata, created_at)
        values (${trader.user.id}, ${action}, ${true}, '192.0.2.1', ${userAgent}, '{"a": [1, 2]}', ${timestamp(world.clock.now())})`,
    ),
  );

describe('GET /trading/orders as CSV', () => {
  test('is every order that fits the filter, however many pages there are, newest first', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader, { quantity: 0.5, price: 1 });
    await world.db.commit(
      Array.from({ length: 450 }, (_, index) => {
        const id = `01990000-0000-7000-8000-${String(index).padStart(12, '0')}`;
        return sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
              symbol, action, order_type, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace, unsettled)
            select ${id}, version, user_id, trading_account_id, broker_name, source, simulation, 'ETHUSDT', action, order_type,
              intent, quantity, 'rejected', broker_refs, submitted_at, deadline_at, auto_exit, trace, unsettled
            from order_history where order_id = ${body.order_id}`;
      }),
    );
    const all = await csv(world, trader, '/trading/orders?limit=3');
    assert.equal(all.file, 'attachment; filename="fillpath-orders.csv"');
    assert.equal(all.records.length, 451);
    assert.equal(new Set(all.records.map((row) => row.order_id)).size, 451);
    const [filled] = (await csv(world, trader, '/trading/orders?status=filled')).records;
    assert.equal(filled?.order_id, body.order_id);
    assert.equal(filled?.quantity, '0.5');
    assert.equal(filled?.fill_price, String(body.fill_price));
    // A number below zero stays one.
    assert.equal(filled?.slippage, String(body.slippage));
    assert.ok((body.slippage ?? 0) < 0);
    assert.equal(filled?.error_code, '');
    assert.deepEqual((await csv(world, trader, '/trading/orders?symbol=NONE')).records, []);
  });

  test('defuses what a spreadsheet would run', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const evil = ['=1+1', '+1', '-1+1', '@SUM(A1)', '=HYPERLINK("http://x","y")', 'a,b"c', 'plain'];
    for (const symbol of evil) await world.send(trader, { symbol });
    const { records } = await csv(world, trader, '/trading/orders');
    assert.deepEqual(
      records.map((row) => row.symbol).toSorted(),
      evil.map((symbol) => (/^[=+\-@]/.test(symbol) ? `'${symbol}` : symbol)).toSorted(),
    );
    for (const row of records) for (const cell of Object.values(row)) assert.doesNotMatch(cell, /^[=+@\t\r]/);
  });

  test('is only for who asks for it: JSON is the answer to everybody else', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const type = async (accept: string) =>
      String(
        (await world.as(trader, 'GET', '/trading/orders', undefined, { accept })).headers['content-type'],
      ).replace(/;.*/, '');
    for (const accept of [
      'text/csv',
      'TEXT/CSV',
      'text/csv; charset=utf-8',
      'application/json;q=0.5, text/csv',
      'text/csv, */*;q=0.1',
    ])
      assert.equal(await type(accept), 'text/csv', accept);
    for (const accept of [
      '*/*',
      'application/json',
      'text/*',
      'text/csv;q=0',
      'application/json, text/csv',
      'text/csv;q=x',
      '',
    ])
      assert.equal(await type(accept), 'application/json', accept);
  });

  test('is refused as ever where the call is wrong or nobody is known', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const wrong = await world.as<Problem>(trader, 'GET', '/trading/orders?stat=x', undefined, CSV);
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'request_invalid']);
    const nobody = await world.request<Problem>({ method: 'GET', url: '/trading/orders', headers: CSV });
    assert.deepEqual([nobody.status, nobody.body.code], [401, 'unauthenticated']);
  });

  test('of another user has nothing of ours', async (t) => {
    const world = await openWorld(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    await world.send(other);
    assert.deepEqual((await csv(world, trader, '/trading/orders')).records, []);
  });
});

test('nothing is run by a spreadsheet that divides by semicolons or tabs, where our quotes are letters', () => {
  const CELL: Csv<string> = { name: 'x', columns: [['text', (text) => text]] };
  for (const evil of ['a;=1+1', 'a; =1+1', 'a;"=1+1', 'a\t@SUM(A1)', 'a\r\n+1', 'a\n-1', ';;=1', '=1;=2;+3'])
    for (const cell of rowLine(CELL, evil).split(/[;\t\r\n]/))
      assert.doesNotMatch(cell, /^["\s]*[=+\-@]/, JSON.stringify(rowLine(CELL, evil)));
  assert.equal(rowLine(CELL, 'a;b'), '"a;b"\r\n');
  assert.equal(rowLine(CELL, 'a;=b'), '"a;\'=b"\r\n');
  assert.equal(rowLine(CELL, 'a-b = c'), 'a-b = c\r\n');
});

describe('The other lists as CSV', () => {
  test('the audit log, with texts of any kind and over many pages', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const agents = ['=cmd|calc', '\tx', '\rx', 'two\r\nlines, "quoted"', 'plain'];
    await insertEntries(world, trader, [
      ...agents.map((userAgent) => ({ action: 'login', userAgent })),
      ...Array.from({ length: 430 }, () => ({ action: 'logout', userAgent: 'x' })),
    ]);
    const { records, file, header } = await csv(world, trader, '/settings/audit-log');
    assert.equal(file, 'attachment; filename="fillpath-audit-log.csv"');
    assert.ok(header.includes('metadata'));
    assert.ok(records.length >= 435);
    const login = (await csv(world, trader, '/settings/audit-log?action=login')).records;
    assert.deepEqual(login.map((row) => row.user_agent).toReversed(), [
      "'=cmd|calc",
      "'\tx",
      "'\rx",
      'two\r\nlines, "quoted"',
      'plain',
    ]);
    assert.equal(login[0]?.metadata, '{"a":[1,2]}');
  });

  test('the attacks', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.webhook(trader, { ...world.signal(trader), secret: 'wrong' });
    await insertEntries(world, trader, [{ action: 'login', userAgent: 'x' }]);
    const { records, file } = await csv(world, trader, '/settings/security-attacks');
    assert.equal(file, 'attachment; filename="fillpath-security-attacks.csv"');
    assert.deepEqual(
      records.map((row) => row.action),
      ['webhook_credential_attack'],
    );
    assert.deepEqual(
      (await csv(world, trader, '/settings/security-attacks?type=webhook_replay_attack')).records,
      [],
    );
  });

  test('a group’s signal once, with what became of it at each member; and its orders with their group', async (t) => {
    const { world, first, traders, group, send, halt } = await openGroup(t);
    await halt(traders[1] as Trader);
    const { body } = await send({ quantity: 50_000, quantity_type: 'cash' });
    await world.send(first, { symbol: 'ETHUSDT' });
    const { header, records } = await csv(world, first, '/trading/signals');
    assert.deepEqual(
      header.slice(-5),
      ['quantity_type', 'group_id', 'accepted', 'refused', 'members'],
      'at the end',
    );
    const became = body.members.map(
      ({ trading_account_id, order, error }) => `${trading_account_id}:${order?.order_id ?? error?.code}`,
    );
    assert.deepEqual(
      records.map((row) => [
        ...[row.symbol, row.quantity_type, row.group_id, row.accepted, row.refused, row.members],
      ]),
      [
        ['ETHUSDT', 'units', '', '', '', ''],
        ['BTCUSDT', 'cash', group.id, '2', '1', became.join(' ')],
      ],
    );
    assert.match(became[1] ?? '', /:account_halted$/);
    const orders = await csv(world, first, '/trading/orders');
    assert.equal(orders.header.at(-1), 'group_id');
    assert.deepEqual(
      orders.records.map((row) => [row.group_id, row.trading_account_id]).toSorted(),
      [
        ['', first.account.id],
        [group.id, first.account.id],
        [group.id, traders[2]?.account.id ?? ''],
      ].toSorted(),
    );
  });

  test('the signals, refused ones too', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    await world.send(trader, { symbol: '=1+1', quantity: 0 });
    const { records, file } = await csv(world, trader, '/trading/signals');
    assert.equal(file, 'attachment; filename="fillpath-signals.csv"');
    assert.deepEqual(records.map((row) => [row.outcome, row.code]).toSorted(), [
      ['order', ''],
      ['refused', 'webhook_payload_invalid'],
    ]);
    assert.equal((await csv(world, trader, '/trading/signals?outcome=order')).records[0]?.quantity, '2');
    assert.equal((await csv(world, trader, '/trading/signals?outcome=executed')).records.length, 1);
    assert.equal((await csv(world, trader, '/trading/signals?real_money=true')).records.length, 0);
  });

  test('the performance, day by day', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { price: 1 });
    const { records, file } = await csv(world, trader, '/trading/performance');
    assert.equal(file, 'attachment; filename="fillpath-performance.csv"');
    const [day] = records;
    assert.equal(records.length, 1);
    assert.match(day?.day ?? '', /^\d{4}-\d{2}-\d{2}$/);
    assert.match(day?.realised ?? '', /^-\d/);
    assert.deepEqual([day?.currency, day?.orders_filled, day?.orders_failed], ['USD', '1', '0']);
  });
});

describe('A client that asks for a long list', () => {
  async function withLongLog(t: Parameters<typeof openWorld>[0], env: Record<string, string>) {
    const world = await openWorld(t, { env });
    const trader = await world.makeTrader();
    const entries = Array.from({ length: 500 }, () => ({ action: 'login', userAgent: 'x'.repeat(60_000) }));
    for (let from = 0; from < entries.length; from += 100)
      await insertEntries(world, trader, entries.slice(from, from + 100));
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    t.after(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(
      `GET /settings/audit-log HTTP/1.1\r\nhost: x\r\naccept: text/csv\r\nconnection: close\r\nauthorization: Bearer ${trader.apiKey}\r\n\r\n`,
    );
    return { world, trader, socket };
  }

  test('and does not read is dropped, and no more of it is read meanwhile', async (t) => {
    const { world, socket } = await withLongLog(t, { SEND_TIMEOUT_SECONDS: '0.5' });
    socket.pause();
    const [side] = (await once(world.server.server, 'request')) as [{ socket: import('node:net').Socket }];
    if (!side.socket.closed) await once(side.socket, 'close');
    assert.ok(side.socket.bytesWritten < 10_000_000, `${side.socket.bytesWritten} bytes were written`);
  });

  test('and reads gets all of it', async (t) => {
    const { socket } = await withLongLog(t, { SEND_TIMEOUT_SECONDS: '5' });
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    await once(socket, 'close');
    assert.ok(bytes > 500 * 60_000, `${bytes} bytes came`);
  });
});
