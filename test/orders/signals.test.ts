// Every arrival at a webhook can be looked at afterwards; what would become of a message, or of an order, beforehand.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Reads, type Statement, sql } from '../../src/data/engine/db.ts';
import { listSignals } from '../../src/data/orders/signals.ts';
import { MASK, maskMessage } from '../../src/domain/signals/masking.ts';
import { readBody } from '../../src/domain/signals/signal.ts';
import { CHECKS } from '../../src/domain/signals/webhook-checks.ts';
import { openWorld, type Trader, type World } from '../world.ts';

interface Listed {
  id: string;
  outcome: string;
  code: string | null;
  simulation: boolean;
  order_id: string | null;
  order_status: string | null;
  symbol: string | null;
  fill_price: number | null;
  total_ms: number | null;
  real_money: boolean;
}
interface Shown extends Listed {
  message: string | null;
  understood: Record<string, unknown> | null;
  ignored: string[];
  checks: { check: string; outcome: string; detail: string | null }[];
}

const signalsOf = async (world: World, trader: Trader, query = '') =>
  (await world.as<{ items: Listed[] }>(trader, 'GET', `/trading/signals${query}`)).body.items;
const shown = async (world: World, trader: Trader, id: string) =>
  (await world.as<Shown>(trader, 'GET', `/trading/signals/${id}`)).body;
const outcomes = ({ checks }: Pick<Shown, 'checks'>) =>
  checks.map(({ check, outcome }) => `${check} ${outcome}`);

describe('What arrived at a webhook', () => {
  test('says whether it was real money, as its order and the sum of them do, and goes on when its account is deleted', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body: order } = await world.send(trader);
    await world.send(trader, {}, { query: '?simulation=true' });
    const said = async () => {
      const [simulated, real] = await signalsOf(world, trader);
      const orders = (await world.as<{ items: Listed[] }>(trader, 'GET', '/trading/orders')).body.items;
      const sums = await world.as<{ real_money: boolean | null }>(trader, 'GET', '/trading/performance');
      const record = (await world.order(trader, order.order_id)) as { real_money?: boolean };
      assert.equal(simulated?.real_money, false);
      assert.deepEqual(
        orders.map(({ real_money }) => real_money),
        [false, real?.real_money],
      );
      assert.equal(record.real_money, real?.real_money);
      assert.equal(sums.body.real_money, real?.real_money);
      return real?.real_money;
    };
    const become = (broker: string, environment: string) =>
      world.db.commit([
        sql`update trading_accounts set broker_name = ${broker}, environment = ${environment}
            where id = ${trader.account.id}`,
      ]);
    assert.equal(await said(), false);
    await become('okx', 'demo');
    assert.equal(await said(), false);
    await become('okx', 'live_eea');
    assert.equal(await said(), true);
    await world.db.commit([
      sql`update trading_accounts set deleted_at = ${'2026-11-12T00:00:00.000Z'} where id = ${trader.account.id}`,
    ]);
    assert.equal(await said(), true);
    await become('paper', 'live');
    assert.equal(await said(), false);
  });

  test('that asked for a rehearsal is one, however early it was refused; what asked for it unclearly is not', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '4' } });
    const trader = await world.makeTrader();
    const query = '?simulation=true';
    await world.send(trader, { quantity: -1 }, { query });
    await world.send(trader, { quantity: -1 });
    await world.send(trader, {}, { query: '?simulation=maybe' });
    await world.send(trader, {}, { query });
    await world.send(trader, {}, { query });
    const told = (await signalsOf(world, trader)).toReversed();
    assert.deepEqual(
      told.map(({ code, simulation }) => [code, simulation]),
      [
        ['webhook_payload_invalid', true],
        ['webhook_payload_invalid', false],
        ['webhook_payload_invalid', false],
        [null, true],
        ['rate_limited', true],
      ],
    );
  });

  test('is listed newest first: what became an order, what was refused, what reported', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body: order } = await world.send(trader, { price: 60_000 });
    await world.send(trader, { secret: 'wrong' });
    await world.send(trader, {
      action: 'sync',
      quantity: null,
      market_position: 'flat',
      market_position_size: 0,
    });
    const [sync, refused, placed] = await signalsOf(world, trader);
    assert.deepEqual([sync?.outcome, sync?.order_id], ['sync', null]);
    assert.deepEqual([refused?.outcome, refused?.code], ['refused', 'webhook_credential_attack']);
    // What it asked for was understood all the same, and is found by it.
    assert.deepEqual([refused?.symbol, refused?.symbol], [placed?.symbol, 'BTCUSDT']);
    assert.equal((await shown(world, trader, refused?.id ?? '')).understood?.action, 'buy');
    assert.equal((await signalsOf(world, trader, '?symbol=BTCUSDT&outcome=refused')).length, 1);
    assert.deepEqual(
      [placed?.outcome, placed?.order_id, placed?.order_status, placed?.fill_price],
      ['order', order.order_id, 'filled', order.fill_price],
    );
    assert.equal(placed?.total_ms, order.trace.answered);
    assert.deepEqual(
      (await signalsOf(world, trader, '?outcome=refused')).map(({ id }) => id),
      [refused?.id],
    );
    assert.deepEqual(
      (await signalsOf(world, trader, '?code=webhook_credential_attack')).map(({ id }) => id),
      [refused?.id],
    );
  });

  test('a report is in the audit log as an order is: from where it came, and what it found', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const stance = { market_position: 'long', market_position_size: 2 };
    const from = { headers: { 'user-agent': 'a platform' }, remoteAddress: '203.0.113.9' };
    const sent = { action: 'sync', quantity: null, ...stance };
    for (const query of ['', '?simulation=true'])
      assert.equal((await world.webhook(trader, world.signal(trader, sent), { query, ...from })).status, 200);
    const url = '/settings/audit-log?action=webhook_order';
    const { items } = (await world.as<{ items: Record<string, unknown>[] }>(trader, 'GET', url)).body;
    const { account } = trader;
    assert.deepEqual(
      items.map(({ metadata, ...entry }) => {
        const { request_id, ...found } = metadata as Record<string, unknown>;
        assert.match(String(request_id), /^[0-9a-f-]{36}$/);
        const { success, error_message, ip_address, user_agent, resource_type, resource_id } = entry;
        return [success, error_message, ip_address, user_agent, resource_type, resource_id, found];
      }),
      [true, false].map((simulation) => [
        ...[true, null, '203.0.113.9', 'a platform', 'account', account.id],
        {
          trading_account_id: account.id,
          simulation,
          sync: true,
          symbol: 'BTCUSDT',
          in_sync: false,
          strategy_position: 2,
          broker_position: 0,
          gap: false,
        },
      ]),
    );
  });

  test('a report that aligned the position has one entry: that of its order', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { outOfSync: 'follow' });
    const stance = { market_position: 'long', market_position_size: 2 };
    await world.send(trader, { action: 'sync', quantity: null, ...stance });
    const url = '/settings/audit-log?action=webhook_order';
    const { items } = (await world.as<{ items: { resource_type: string }[] }>(trader, 'GET', url)).body;
    assert.deepEqual(
      items.map(({ resource_type }) => resource_type),
      ['order'],
    );
  });

  test('is found by what became of its order, and by whether it was real money', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { outOfSync: 'follow' });
    await world.send(trader);
    await world.send(trader, { symbol: 'NOSUCH' });
    await world.send(trader, { secret: 'wrong' });
    await world.send(trader, {
      action: 'sync',
      quantity: null,
      symbol: 'ETHUSDT',
      market_position: 'long',
      market_position_size: 2,
    });
    await world.send(trader, {}, { query: '?simulation=true' });
    const all = await signalsOf(world, trader);
    const [simulated, sync, refused, rejected, filled] = all.map(({ id }) => id);
    const found = async (query: string) => (await signalsOf(world, trader, query)).map(({ id }) => id);
    // A report of a strategy that is not where it should be became an order, too.
    assert.deepEqual([all[1]?.outcome, all[1]?.order_status], ['sync', 'filled']);
    assert.deepEqual(await found('?outcome=executed'), [simulated, sync, filled]);
    assert.deepEqual(await found('?outcome=rejected'), [rejected]);
    assert.deepEqual(await found('?outcome=under_way'), []);
    assert.deepEqual(await found('?order_status=rejected'), [rejected]);
    assert.deepEqual(await found('?outcome=executed&order_status=rejected'), []);
    assert.deepEqual(await found('?real_money=true'), []);
    assert.equal((await found('?real_money=false')).length, 5);
    await world.db.commit([
      sql`update trading_accounts set broker_name = ${'okx'}, environment = ${'live_eea'},
            deleted_at = ${'2026-11-12T00:00:00.000Z'} where id = ${trader.account.id}`,
    ]);
    assert.deepEqual(await found('?real_money=true'), [sync, refused, rejected, filled]);
    assert.deepEqual(await found('?real_money=true&outcome=executed'), [sync, filled]);
    assert.deepEqual(await found('?real_money=false'), [simulated]);
  });

  test('with a NUL or half a character in its id is listed as every other: whoever knows the URL can send one', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const id of ['\0', '\ud800', '\udfff\ud800'])
      await world.send(trader, { id, quantity_type: 'cash' }, { query: '?simulation=true' });
    const list = await world.as<{ items: unknown[] }>(trader, 'GET', '/trading/signals');
    assert.deepEqual([list.status, list.body.items?.length], [200, 3]);
    const csv = await world.request<string>({
      method: 'GET',
      url: '/trading/signals',
      headers: { authorization: `Bearer ${trader.apiKey}`, accept: 'text/csv' },
    });
    assert.equal(csv.status, 200);
  });

  test('that is rare among many is found however far back, page by page', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    await world.send(trader);
    await world.send(trader);
    const [newer, older] = await signalsOf(world, trader);
    await world.send(trader, { secret: 'wrong' });
    const [{ id: refused } = { id: '' }] = await signalsOf(world, trader, '?outcome=refused');
    await world.db.commit(
      Array.from({ length: 600 }, (_, index) => {
        const id = `01990000-0000-7000-8000-${String(index).padStart(12, '0')}`;
        return sql`insert into signals (id, user_id, trading_account_id, arrived_at, simulation, outcome, code, ip_address)
            select ${id}, user_id, trading_account_id, arrived_at, simulation, outcome, code, ip_address
            from signals where id = ${refused}`;
      }),
    );
    interface Found {
      items: Listed[];
      next_cursor: string | null;
    }
    const page = async (cursor: string | null): Promise<Found> => {
      const query = `?outcome=executed&limit=1${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { body } = await world.as<Found>(trader, 'GET', `/trading/signals${query}`);
      // On a busy machine a page may be what was looked through so far.
      return body.items.length === 0 && body.next_cursor !== null ? page(body.next_cursor) : body;
    };
    const first = await page(null);
    const second = await page(first.next_cursor);
    assert.deepEqual([first.items[0]?.id, second.items[0]?.id], [newer?.id, older?.id]);
    assert.equal(second.next_cursor, null);
  });

  test('by several filters is looked for by one of them: no statement goes through a whole history', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { secret: 'wrong' });
    const [{ id: refused } = { id: '' }] = await signalsOf(world, trader);
    await world.db.commit(
      Array.from({ length: 600 }, (_, index) => {
        const id = `01990000-0000-7000-8000-${String(index).padStart(12, '0')}`;
        return sql`insert into signals (id, user_id, trading_account_id, arrived_at, simulation, outcome, code, symbol, ip_address)
            select ${id}, user_id, trading_account_id, arrived_at, simulation, outcome, code, ${index === 7 ? 'RARE' : 'OFTEN'}, ip_address
            from signals where id = ${refused}`;
      }),
    );
    const seen: number[] = [];
    const lists: Reads = {
      get: (query) => world.db.lists.get(query),
      async all<Row>(query: Statement) {
        const rows = await world.db.lists.all<Row>(query);
        if (query.parts.join('').includes('from signals where')) seen.push(rows.length);
        return rows;
      },
    };
    const accountId = trader.account.id;
    const filter = {
      code: 'webhook_credential_attack',
      outcome: 'refused',
      symbol: 'RARE',
      accountId,
    } as const;
    const { found } = await listSignals(lists, trader.user.id, { filter, after: null, limit: 50 });
    assert.deepEqual(
      found.map(({ signal }) => signal.symbol),
      ['RARE'],
    );
    assert.deepEqual(seen, [...Array.from({ length: 12 }, () => 50), 1]);
  });

  test('comes in pages without a gap', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (let sent = 0; sent < 5; sent++) await world.send(trader);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const url: string = `/trading/signals?limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await world.as<{ items: Listed[]; next_cursor: string | null }>(trader, 'GET', url);
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    assert.deepEqual(
      seen,
      (await signalsOf(world, trader)).map(({ id }) => id),
    );
    assert.equal(seen.length, 5);
  });

  test('shows the message as received, the secret masked, and what every check said', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { comment: `my ${trader.secret}` });
    const [listed] = await signalsOf(world, trader);
    const one = await shown(world, trader, listed?.id ?? '');
    assert.ok(one.message?.includes(MASK) && !one.message.includes(trader.secret));
    assert.deepEqual([one.understood?.action, one.understood?.operation], ['buy', 'PLACE_ENTRY_ORDER']);
    assert.deepEqual(one.ignored, ['comment']);
    assert.deepEqual(
      outcomes(one),
      CHECKS.map((check) => `${check} passed`),
    );
  });

  test('a refusal names its check: those before it passed, those after it were not reached', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { allowedSymbols: ['ETHUSDT'] });
    await world.send(trader);
    await world.webhook(trader, '{"action": "buy", "secret": "hunter2 is my secret"');
    const [broken, symbol] = await signalsOf(world, trader);
    const refused = (await shown(world, trader, symbol?.id ?? '')).checks.find(
      ({ outcome }) => outcome === 'refused',
    );
    assert.equal(refused?.check, 'symbol');
    const text = await shown(world, trader, broken?.id ?? '');
    assert.equal(text.understood, null);
    assert.ok(!text.message?.includes('hunter2'), text.message ?? '');
    assert.deepEqual(outcomes(text).slice(5, 8), [
      'certificate passed',
      'payload refused',
      'symbol not_reached',
    ]);
  });

  test("is its owner's alone", async (t) => {
    const world = await openWorld(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    await world.send(trader);
    assert.deepEqual(await signalsOf(world, other), []);
    const [own] = await signalsOf(world, trader);
    assert.equal((await world.as(other, 'GET', `/trading/signals/${own?.id}`)).status, 404);
  });

  test('a secret is masked however it is written', () => {
    for (const text of [
      '{"secret": "s3cret"}',
      '{"secret":"s3cret","comment":"s3cret"}',
      '{"secret": 1234567, "note": "1234567"}',
      'secret=s3cret;action=buy',
      '{"secret": "s3cr\\u0065t", "x": {{close}}',
      "{'secret': 's3cret of another'}",
      'secret=my s3cret of long ago',
      '{"secret":["s3cret b"]}',
      '{"secret":[["x"],"another"]}',
      '{"secret":{"a":1,"b":{"c":2},"d":"another"}}',
      '{"secret":"s3cret","comment":"it is s3cr\\u0065t"}',
      '{"s\\u0065cret":"s3cr\\u0065t"}',
      '{"s\\u0065cret":"\\u0061nother","comment":"anothe\\u0072"}',
      '\\x "s3cr\\u0065t \\x\\"',
      '{"secret":"s3cret","s3cr\\u0065t":["s3cr\\u0065t"]} "s3cr\\u0065t',
    ]) {
      const body = new TextEncoder().encode(text);
      const masked = maskMessage(readBody(body), 's3cret');
      assert.ok(!/s3cret|1234567|s3cr\\u0065t|another|long ago| b/.test(masked), masked);
      const plain = masked.replace(/\\u(....)/g, (_all, code) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      );
      assert.ok(!/s3cret|another/.test(plain), plain);
      assert.ok(masked.includes(MASK));
    }
    const placeholder = maskMessage(
      readBody(new TextEncoder().encode('{"secret": {{plot("x")}}, "action": "buy"}')),
      's3cret',
    );
    assert.match(placeholder, /"action": "buy"/);
  });
});

interface Plan {
  legs: { leg: string; side: string; quantity: number }[];
  text: string;
  guards: { guard: string; outcome: string }[];
  error: { code: string } | null;
}
interface Checked extends Pick<Shown, 'checks' | 'understood' | 'ignored'> {
  plan: Plan | null;
  corrected: string | null;
  service: string | null;
  lost: string[];
  examples: { field: string | null; placeholder: string; value: string }[];
}

const check = async (world: World, trader: Trader, message: string) =>
  (await world.as<Checked>(trader, 'POST', `/trading/accounts/${trader.account.id}/check`, { message })).body;

describe('A message, checked before it is sent', () => {
  test('says what would be traded, and nothing is sent, counted or remembered', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'short_entry', quantity: 2 });
    const message = JSON.stringify(world.signal(trader));
    const checked = await check(world, trader, message);
    assert.deepEqual(
      outcomes(checked),
      CHECKS.map((name) => `${name} passed`),
    );
    assert.deepEqual(checked.plan?.legs, [
      { leg: 'exit', side: 'buy', quantity: 2 },
      { leg: 'entry', side: 'buy', quantity: 1 },
    ]);
    assert.equal(
      checked.plan?.text,
      'Buy 2 BTCUSDT at the market to close the short position, then, once that is filled, buy 1 at the market to open a long position. The position would go from -2 to 1.',
    );
    assert.equal(checked.corrected, null);
    assert.equal((await signalsOf(world, trader)).length, 1);
    assert.equal((await world.paperOrders(trader.account.id)).length, 1);
    // As it stands it trades: it was not remembered.
    assert.equal((await world.webhook(trader, message)).body.status, 'filled');
    const again = await check(world, trader, message);
    assert.ok(outcomes(again).includes('replay refused'));
  });

  test('every layer has its say, and the message that works is there to paste', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({ plan: 'free', termsVersion: null });
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {});
    const old = world.signal(trader, { timestamp: '2020-01-01T00:00:00Z', secret: 'wrong' });
    const checked = await check(world, trader, JSON.stringify(old));
    assert.deepEqual(
      outcomes(checked).filter((word) => word.endsWith('refused')),
      ['age refused', 'secret refused', 'halt refused', 'plan refused', 'terms refused'],
    );
    assert.ok(checked.corrected?.includes('<your webhook secret>'));
    assert.ok(!JSON.stringify(checked).includes(trader.secret));
  });

  test('what it corrects works, and a report is judged as one', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const message of [
      '{"action": "purchase", "symbol": "BTCUSDT", "quantity": "abc"}',
      '{"action": "buy", "symbol": "BTCUSDT"}',
      '{"action": "buy", "symbol": "{{constructor}}", "quantity": 1}',
    ]) {
      const { corrected } = await check(world, trader, message);
      const working = (corrected ?? assert.fail(message)).replace('<your webhook secret>', trader.secret);
      const again = await check(world, trader, working);
      assert.deepEqual(
        outcomes(again),
        CHECKS.map((name) => `${name} passed`),
      );
    }
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, {});
    const stance = { market_position: 'long', market_position_size: 1 };
    const { quantity: _, ...sync } = world.signal(trader, { action: 'sync', ...stance });
    const report = await check(world, trader, JSON.stringify(sync));
    assert.deepEqual([report.plan, outcomes(report).includes('halt refused')], [null, false]);
  });

  test('a template is read as the platform would fill it in', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const template = `{"action": "{{strategy.order.action}}", "symbol": "{{ticker}}", "quantity": {{strategy.order.contracts}},
      "market_position": "{{strategy.market_position}}", "market_position_size": {{strategy.market_position_size}},
      "timestamp": "{{timenow}}", "secret": "${trader.secret}"}`;
    const checked = await check(world, trader, template);
    assert.deepEqual(
      outcomes(checked),
      CHECKS.map((name) => `${name} passed`),
    );
    assert.equal(checked.understood?.target, 1);
    assert.deepEqual(
      checked.examples.map(({ field, placeholder, value }) => [
        field,
        placeholder,
        field === 'timestamp' || value,
      ]),
      [
        ['action', '{{strategy.order.action}}', 'buy'],
        ['symbol', '{{ticker}}', 'BTCUSDT.P'],
        ['quantity', '{{strategy.order.contracts}}', '1'],
        ['market_position', '{{strategy.market_position}}', 'long'],
        ['market_position_size', '{{strategy.market_position_size}}', '1'],
        ['timestamp', '{{timenow}}', true],
      ],
    );
    const wrong = await check(
      world,
      trader,
      template.replace('strategy.order.contracts', 'strategy.order.lots'),
    );
    assert.match(
      wrong.checks.find(({ check: name }) => name === 'payload')?.detail ?? '',
      /strategy\.order\.lots/,
    );
  });

  test('one that was received is judged as it came: what the platform did not fill in is refused', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const template = `{"action": "buy", "symbol": "BTCUSDT", "quantity": {{strategy.order.contracts}}, "timestamp": "{{timenow}}", "secret": "${trader.secret}"}`;
    assert.ok(outcomes(await check(world, trader, template)).includes('payload passed'));
    await world.webhook(trader, template);
    const [arrived] = await signalsOf(world, trader);
    const { message } = await shown(world, trader, arrived?.id ?? '');
    const checked = await check(world, trader, `${message}\n`);
    assert.deepEqual([checked.examples, checked.understood], [[], null]);
    const payload = checked.checks.find(({ check: name }) => name === 'payload');
    assert.equal(payload?.outcome, 'refused');
    assert.match(payload?.detail ?? '', /the platform did not fill it in/);
  });

  test("another service's message is turned into ours, and what gets lost is named", async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const message =
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 2, "stopLoss": {"type": "stop", "percent": 1}}';
    const checked = await check(world, trader, message);
    assert.equal(checked.service, 'TradersPost');
    assert.match(checked.corrected ?? '', /"symbol": "BTCUSDT"/);
    assert.match(checked.corrected ?? '', /"stop_loss": "1%"/);
    assert.deepEqual(checked.plan?.legs, [{ leg: 'entry', side: 'buy', quantity: 2 }]);
  });
});

describe('An order, planned', () => {
  test('is told leg by leg, in words and with its guards, and not sent', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { guards: { max_position: 1 } });
    const plan = async (fields: object) => {
      const body = { trading_account_id: trader.account.id, symbol: 'BTCUSDT', ...fields };
      return (await world.as<Plan>(trader, 'POST', '/trading/order/plan', body)).body;
    };
    const { legs, guards, text } = await plan({ action: 'buy', quantity: 2 });
    assert.deepEqual(legs, [{ leg: 'entry', side: 'buy', quantity: 2 }]);
    assert.deepEqual(
      guards.map(({ guard, outcome }) => [guard, outcome]),
      [['max_position', 'refused']],
    );
    assert.match(text, /from 0 to 2/);
    const nothing = await plan({ action: 'close_long', quantity: 1 });
    assert.deepEqual([nothing.legs, nothing.error?.code], [[], 'no_position']);
    assert.match((await plan({ action: 'close' })).text, /is 0 already/);
    assert.match((await plan({ action: 'buy', quantity: 1, symbol: 'NOSUCH' })).text, /not found/);
    assert.deepEqual(await world.paperOrders(trader.account.id), []);
  });
});
