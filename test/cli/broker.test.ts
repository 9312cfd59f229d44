// `broker try` and `broker compare` from the command line, beside the running service.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { holdAccount, releaseAccount } from '../../src/app/trial/hold.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { changeAccount, findAccount } from '../../src/data/accounts/accounts.ts';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { journey } from '../broker/journey.ts';
import { stubHarness } from '../broker/stub-harness.ts';
import { openWorld } from '../world.ts';
import { terminal } from './terminal.ts';

const CONTEXT = { requestId: 'r', ip: 'command line', userAgent: null, path: 'broker try', method: 'CLI' };

describe('a trial on paper', () => {
  async function desk(t: Parameters<typeof openWorld>[0]) {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { name: 'Futures', paper: { latency_ms: 0 } });
    const folder = join(world.config.data.dir, 'trials', trader.account.id);
    const halted = async () => (await findAccount(world.db, trader.account.id))?.halted;
    return { world, trader, folder, halted };
  }
  const TRY = ['broker', 'try', '--account', 'Futures', '--symbol', 'ETHUSDT'] as const;

  test('says what it will do, does it, and ends with a table and a file', async (t) => {
    const { world, folder, halted } = await desk(t);
    const ran = await terminal(world.config)(...TRY, '--yes');
    assert.equal(ran.code, 0, ran.err + ran.out);
    assert.match(ran.out, /is bought and sold again, worth [\d.]+ USD; that costs about [\d.]+ USD/);
    assert.match(ran.out, /^STEP +ASSUMED +SEEN +VERDICT$/m);
    assert.match(ran.out, /^close .* as assumed$/m);
    assert.match(ran.out, /The account is flat again\./);
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    assert.ok(file && ran.out.includes(file));
    assert.equal(existsSync(join(folder, 'open.json')), false);
    assert.equal(await halted(), false);
  });

  test('asks first, and sends nothing where nobody agrees', async (t) => {
    const { world, halted } = await desk(t);
    const unasked = await terminal(world.config)(...TRY);
    assert.equal(unasked.code, 1);
    assert.match(unasked.err, /Nothing was sent/);
    assert.equal((await terminal(world.config, { typed: 'no' })(...TRY)).code, 1);
    assert.equal(await halted(), false);
    assert.equal((await terminal(world.config, { typed: 'yes' })(...TRY)).code, 0);
  });

  test('leaves a position that is there alone, and is not begun', async (t) => {
    const { world, trader } = await desk(t);
    await world.send(trader, { symbol: 'ETHUSDT', quantity: 1 });
    const ran = await terminal(world.config)(...TRY, '--yes');
    assert.equal(ran.code, 1);
    assert.match(ran.err, /not empty in ETHUSDT: 1 is held/);
    assert.deepEqual((await world.orders(trader)).length, 1);
  });

  test('is refused where the smallest order is too expensive, and says how to allow it', async (t) => {
    const { world } = await desk(t);
    const ran = await terminal(world.config)(...TRY, '--yes', '--at-most', '0.0001');
    assert.equal(ran.code, 1);
    assert.match(
      ran.err,
      /more than 0\.0001\. Choose a cheaper market with --symbol, or allow it with --at-most \d+/,
    );
    assert.equal((await terminal(world.config)(...TRY, '--yes', '--at-most', 'much')).code, 2);
  });

  test('an account that was halted stays so', async (t) => {
    const { world, trader, halted } = await desk(t);
    await world.db.commit([changeAccount(trader.account.id, { haltedAt: timestamp(Date.now()) })]);
    assert.equal((await terminal(world.config)(...TRY, '--yes')).code, 0);
    assert.equal(await halted(), true);
    const noted = await world.db.all<{ action: string }>(
      sql`select action from audit_logs where request_method = 'CLI' order by id`,
    );
    assert.deepEqual(
      noted.map(({ action }) => action),
      ['broker_tried'],
    );
  });

  test('what its owner halts before it begins, or meanwhile, stays halted', async (t) => {
    const { world, trader, halted } = await desk(t);
    const halt = () =>
      world.db.commit([changeAccount(trader.account.id, { haltedAt: timestamp(Date.now()) })]);
    const resume = () => world.db.commit([changeAccount(trader.account.id, { haltedAt: null })]);
    const asked = terminal(world.config, {
      async typed() {
        await halt();
        return 'yes';
      },
    });
    assert.equal((await asked(...TRY)).code, 0);
    assert.equal(await halted(), true, 'halted before it was agreed to');

    await resume();
    const running = await holdAccount({ ...world, context: CONTEXT }, trader.account, 'ETHUSDT');
    assert.ok(running);
    await halt();
    assert.equal(await releaseAccount({ ...world, context: CONTEXT }, trader.account, running), false);
    assert.equal(await halted(), true, 'halted while it ran');
  });

  test('what a strategy opens while the question is asked is not touched, and nothing is begun', async (t) => {
    const { world, trader, halted } = await desk(t);
    const asked = terminal(world.config, {
      async typed() {
        const sold = { symbol: 'ETHUSDT', action: 'sell', quantity: 1 };
        const { body } = await world.send(trader, sold);
        assert.equal(body.status, 'filled');
        return 'yes';
      },
    });
    const ran = await asked(...TRY);
    assert.equal(ran.code, 1);
    assert.match(ran.err, /not empty in ETHUSDT: -1 is held/);
    assert.equal(await world.position(trader.account.id, 'ETHUSDT'), '-1');
    assert.equal(await halted(), false);
  });

  test('one whose account could not be resumed at its end is ended by the next', async (t) => {
    const { world, folder, halted } = await desk(t);
    const run = (text: string) => world.db.commit([{ parts: [text], values: [] }]);
    await run(
      `create trigger stays before update on trading_accounts when old.halted = 1 and new.halted = 0
       begin select raise(abort, 'the disk is full'); end`,
    );
    const broken = await terminal(world.config)(...TRY, '--yes');
    await run('drop trigger stays');
    assert.equal(broken.code, 1, broken.out);
    assert.match(broken.err, /The account was halted for it, and stays so/);
    assert.equal(await halted(), true);
    const next = await terminal(world.config)(...TRY, '--yes');
    assert.equal(next.code, 0, next.err + next.out);
    assert.match(next.out, /The account is resumed\. Run the command again/);
    assert.equal(await halted(), false);
    assert.equal(existsSync(join(folder, 'open.json')), false);
  });

  test('what its owner has resumed meanwhile is not said to be halted', async (t) => {
    const { world, trader, halted } = await desk(t);
    const held = await holdAccount({ ...world, context: CONTEXT }, trader.account, 'ETHUSDT');
    assert.ok(held);
    await world.db.commit([changeAccount(trader.account.id, { haltedAt: null })]);
    assert.equal(await releaseAccount({ ...world, context: CONTEXT }, trader.account, held), true);
    assert.equal(await halted(), false);
  });

  test('an interrupted one resumes nothing that was changed since, and says so', async (t) => {
    const { world, trader, folder, halted } = await desk(t);
    const held = await holdAccount({ ...world, context: CONTEXT }, trader.account, 'ETHUSDT');
    assert.ok(held);
    mkdirSync(folder, { recursive: true });
    const left = JSON.stringify({ trial: 'killed', symbol: 'ETHUSDT', isHeld: true, ...held, sent: [] });
    writeFileSync(join(folder, 'open.json'), left);
    await world.db.commit([changeAccount(trader.account.id, { haltedAt: timestamp(Date.now()) })]);
    const ran = await terminal(world.config)(...TRY, '--yes');
    assert.equal(ran.code, 0, ran.err + ran.out);
    assert.match(ran.out, /The account stays halted: somebody changed it meanwhile/);
    assert.equal(await halted(), true);
  });
});

describe('a trial at an exchange', () => {
  const stub = stubHarness('bybit', (url) => openCcxt('bybit', { url }));

  test('on a live account the name is typed, and --yes is not taken; its transcript is compared', async (t) => {
    const { world, ready } = await journey(t, {
      broker: 'bybit',
      url: stub.url(),
      env: { BROKER_TIMEOUT_SECONDS: '30' },
    });
    const account = await stub.account();
    await ready(account);
    const args = ['broker', 'try', '--account', 'Mine', '--symbol', 'BTCUSDT.P'];
    const yes = await terminal(world.config)(...args, '--yes');
    assert.equal(yes.code, 2);
    assert.match(yes.err, /--yes is not taken/);
    assert.equal((await terminal(world.config, { typed: 'yes' })(...args)).code, 1);
    const file = join(world.config.data.dir, 'first.jsonl');
    const ran = await terminal(world.config, { typed: 'Mine' })(...args, '--file', file);
    assert.equal(ran.code, 0, ran.err + ran.out);
    const text = readFileSync(file, 'utf8');
    for (const secret of Object.values(account.credentials)) assert.ok(!text.includes(secret));
    const same = await terminal(world.config)('broker', 'compare', file);
    assert.equal(same.code, 0, same.out + same.err);
    assert.match(same.out, /No difference/);

    writeFileSync(file, text.replaceAll('\\"cumExecQty\\":', '\\"execQty\\":'));
    const other = await terminal(world.config)('broker', 'compare', file);
    assert.equal(other.code, 1);
    assert.match(other.out, /^missing {2}Bybit, GET \/v5\/order\/realtime: result\.list\[\]\.cumExecQty$/m);
    writeFileSync(file, text.slice(0, text.length / 2));
    const half = await terminal(world.config)('broker', 'compare', file);
    assert.equal(half.code, 1);
    assert.match(half.err, /cut after line \d+/);
    writeFileSync(file, '{"another": "file"}\n');
    const foreign = await terminal(world.config)('broker', 'compare', file);
    assert.equal(foreign.code, 2);
    assert.match(foreign.err, /no transcript/);
  });

  test('what an interrupted one has bought is sold by the next, and nothing else is begun', async (t) => {
    const { world, ready } = await journey(t, {
      broker: 'bybit',
      url: stub.url(),
      env: { BROKER_TIMEOUT_SECONDS: '30' },
    });
    const account = await stub.account();
    const trader = await ready(account);
    const run = terminal(world.config, { typed: 'Mine' });
    const args = ['broker', 'try', '--account', trader.account.id, '--symbol', 'BTCUSDT.P'];
    // As a process leaves it that is killed after the buy.
    const opened = await account.open();
    const instrument = await opened.resolve('BTCUSDT.P');
    assert.ok(!('rejection' in instrument));
    const clientOrderId = 'bkilledafterthebuy000001' as never;
    const order = {
      clientOrderId,
      instrument,
      side: 'buy',
      quantity: instrument.minQuantity,
      reduceOnly: false,
    } as const;
    const placed = await opened.place({ ...order, sendBefore: timestamp(Date.now() + 60_000) });
    assert.equal(placed.outcome, 'accepted');
    // And somebody has bought more by hand since.
    await opened.place({
      ...order,
      clientOrderId: 'by-hand' as never,
      sendBefore: timestamp(Date.now() + 60_000),
    });
    const folder = join(world.config.data.dir, 'trials', trader.account.id);
    assert.equal((await run(...args, '--at-most', '0.01')).code, 1);
    const sent = {
      ...{ kind: 'order', clientOrderId, brokerRef: null, symbol: 'BTCUSDT.P', side: 'buy' },
      ...{
        quantity: order.quantity,
        price: null,
        fate: 'unsure',
        filled: '0',
        sentAt: timestamp(Date.now()),
      },
    };
    await world.db.commit([changeAccount(trader.account.id, { haltedAt: timestamp(Date.now()) })]);
    writeFileSync(
      join(folder, 'open.json'),
      JSON.stringify({ trial: 'killed', symbol: 'BTCUSDT.P', isHeld: true, sent: [sent] }),
    );
    const ran = await run(...args);
    assert.equal(ran.code, 0, ran.err + ran.out);
    assert.match(
      ran.out,
      /was interrupted\. What it opened is closed first\.[\s\S]*was sold at the market\. The account is resumed\./,
    );
    assert.equal(existsSync(join(folder, 'open.json')), false);
    assert.equal((await findAccount(world.db, trader.account.id))?.halted, false);
    // What was bought by hand is still there.
    const { positions } = await account.ledger();
    assert.deepEqual(
      positions.map(({ quantity }) => quantity),
      [order.quantity],
    );
  });
});
