// Every message that the documents show a trader is one that works: `check` has nothing against it as it is pasted, and what the
// platform makes of it is traded on a paper account.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { OrderResult } from '../src/domain/orders/result.ts';
import type { ShownProtection } from '../src/domain/protection/shown.ts';
import { codes, openGroup } from './orders/group-desk.ts';
import { openWorld } from './world.ts';

const SECRET = '<your webhook secret>';
const DOCUMENTS = ['README.md', ...globSync('docs/*.md').sort()];

interface Message {
  readonly where: string;
  readonly text: string;
}

/** Those that are pasted into an alert, and those that a script puts together. */
function messagesIn(document: string): Message[] {
  const blocks = [...readFileSync(document, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)];
  return blocks.flatMap(([, kind, block = ''], place) => {
    const where = `${document}, block ${place + 1}`;
    if (kind === 'json' && block.includes('"action"')) return [{ where, text: block }];
    return [...block.matchAll(/\balert\(([\s\S]*?), alert\.freq_once_per_bar_close\)/g)].map(
      ([, text = '']) => ({ where, text: puttingTogether(text) }),
    );
  });
}

/** What stands in a script beside its texts, of a strategy that is long by 1. */
const OF_A_SCRIPT: Readonly<Record<string, () => string>> = {
  'syminfo.ticker': () => 'BTCUSDT.P',
  side: () => 'long',
  'str.tostring(math.abs(strategy.position_size))': () => '1',
  'str.tostring(timenow)': () => String(Date.now()),
  'str.tostring(bar_index)': () => '4711',
  'str.tostring(stopPrice, format.mintick)': () => '59400.1',
};

function puttingTogether(text: string): string {
  return text
    .split(/\s*\+\s*(?=(?:[^']*'[^']*')*[^']*$)/)
    .map((part) => {
      const piece = part.trim();
      if (/^'[^']*'$/.test(piece)) return piece.slice(1, -1);
      return (OF_A_SCRIPT[piece] ?? assert.fail(`what is ${piece} in a script?`))();
    })
    .join('');
}

/** As the platform fills it in for a strategy that buys 1 from flat. */
const FILLED_IN: Readonly<Record<string, () => string>> = {
  '{{strategy.order.action}}': () => 'buy',
  '{{strategy.order.contracts}}': () => '1',
  '{{strategy.order.id}}': () => 'Long',
  '{{strategy.market_position}}': () => 'long',
  '{{strategy.market_position_size}}': () => '1',
  '{{strategy.prev_market_position}}': () => 'flat',
  '{{strategy.prev_market_position_size}}': () => '0',
  '{{ticker}}': () => 'BTCUSDT.P',
  '{{close}}': () => '60000',
  '{{timenow}}': () => new Date().toISOString(),
  '{{plot("SL")}}': () => '59400.1',
  '{{plot("TP")}}': () => '62000',
};

const filledIn = (text: string): string =>
  text.replaceAll(/\{\{[^{}]*\}\}/g, (placeholder) =>
    (FILLED_IN[placeholder] ?? assert.fail(`what does the platform make of ${placeholder}?`))(),
  );

/** Those of a group's own section. */
function messagesToGroup(): readonly string[] {
  const [, section = ''] = readFileSync('docs/charting-platform.md', 'utf8').split(
    '## One alert for several accounts\n',
  );
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^```json\n([\s\S]*?)^```/gm)]
    .map(([, text = '']) => text)
    .filter((text) => text.includes('"action"'));
}

const PROTECTIVE = ['stop_loss', 'take_profit', 'trailing_stop', 'break_even', 'time_stop'] as const;
/** Needs a position before it. */
const isAboutWhatIsHeld = ({ action }: { readonly action: string }) =>
  ['protect', 'close', 'sync', 'long_exit'].includes(action);

describe('A message of the documents', () => {
  const messages = DOCUMENTS.flatMap(messagesIn);

  test('there are some that enter with a plotted stop, that trail, and that move what stands', () => {
    const has = (part: RegExp) => messages.some(({ text }) => part.test(text));
    assert.ok(has(/strategy\.order\.action[\s\S]*"stop_loss": "\{\{plot\("SL"\)\}\}"/));
    assert.ok(has(/"trailing_stop": \{/));
    assert.ok(has(/"action": "protect"/));
  });

  test('the template of a strategy with a stop serves its exit too, where nothing is drawn', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 60_000 } } });
    const template =
      messages.find(({ text }) => /strategy\.order\.action[\s\S]*\{\{plot/.test(text))?.text ?? '';
    const own = template.replaceAll(SECRET, trader.secret);
    assert.equal((await world.webhook(trader, filledIn(own))).body.status, 'filled');
    const said: Readonly<Record<string, string>> = {
      '{{strategy.order.action}}': 'sell',
      '{{strategy.order.id}}': 'Stop',
      '{{strategy.market_position}}': 'flat',
      '{{strategy.market_position_size}}': '0',
      '{{strategy.prev_market_position}}': 'long',
      '{{strategy.prev_market_position_size}}': '1',
      '{{plot("SL")}}': 'NaN',
    };
    const body = filledIn(
      own.replaceAll(/\{\{[^{}]*\}\}/g, (placeholder) => said[placeholder] ?? placeholder),
    );
    const { body: closed } = await world.webhook(trader, body);
    assert.deepEqual([closed.status, closed.ignored, closed.error], ['filled', ['stop_loss'], null]);
  });

  for (const { where, text } of messages)
    test(`${where}: ${text.replaceAll(/\s+/g, ' ').slice(0, 60)}…`, async (t) => {
      const world = await openWorld(t);
      const paper = { latency_ms: 0, price: { BTCUSDT: 60_000 } };
      const trader = await world.makeTrader({}, { paper });
      const own = text.replaceAll(SECRET, trader.secret).replaceAll('"…"', `"${trader.secret}"`);
      const body = filledIn(own);
      const said = JSON.parse(body) as { action: string } & Record<string, unknown>;
      if (isAboutWhatIsHeld(said)) {
        const stance = { market_position: 'long', market_position_size: 1 };
        const held = await world.send(trader, { symbol: said.symbol, stop_loss: '3%', ...stance });
        assert.equal(held.body.status, 'filled');
      }

      const path = `/trading/accounts/${trader.account.id}/check`;
      const { body: checked } = await world.as<{ checks: object[]; service: null; ignored: string[] }>(
        ...([trader, 'POST', path, { message: own }] as const),
      );
      assert.deepEqual(
        checked.checks.filter((each) => (each as { outcome: string }).outcome !== 'passed'),
        [],
      );
      assert.deepEqual([checked.service, checked.ignored], [null, []]);

      const answer = await world.webhook<OrderResult & { in_sync?: boolean }>(trader, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      if (said.action === 'sync') return assert.equal(answer.body.in_sync, true);
      assert.equal(answer.body.error, null, JSON.stringify(answer.body.error));
      const waits = 'limit_price' in said || 'stop_price' in said;
      const tradesNothing = said.action === 'protect' || said.action === 'cancel';
      assert.equal(answer.body.status, tradesNothing ? 'done' : waits ? 'placed' : 'filled');

      // What waits for its price is protected from its first fill on.
      if (waits || !PROTECTIVE.some((field) => field in said)) return;
      const { items } = (
        await world.as<{ items: (ShownProtection & { time_stop_at: string | null })[] }>(
          ...([trader, 'GET', '/trading/protections'] as const),
        )
      ).body;
      const [shown] = items;
      assert.equal(items.length, 1);
      if (said.stop_loss === '59400.1' || said.stop_loss === 59_400.1)
        assert.equal(shown?.stop_loss, 59_400.1);
      assert.equal((shown?.take_profit.length ?? 0) > 0, 'take_profit' in said);
      if ('time_stop' in said) assert.notEqual(shown?.time_stop_at, null);
    });
});

test('the messages of the documents to a group trade at each member with its factor, rest, are taken back and report', async (t) => {
  const { world, first, traders, group, post } = await openGroup(t, {
    accounts: 3,
    members: (index) => ({ factor: index === 1 ? 0.5 : 1 }),
  });
  for (const trader of traders) await world.setPaper(trader, { price: { BTCUSDT: 60_000 } });
  await world.as(first, 'POST', `/trading/accounts/${traders[2]?.account.id}/halt`, {});
  const [buys, rests, takesBack, reports, ...others] = messagesToGroup().map((text) =>
    JSON.parse(filledIn(text.replaceAll(SECRET, group.webhook_secret))),
  );
  assert.deepEqual(others, []);

  const bought = (await post(buys)).body;
  assert.deepEqual(codes(bought), ['filled', 'filled', 'account_halted']);
  // At the ask, half a ten-thousandth above the price.
  const units = bought.members.flatMap(({ order }) => order?.fill_quantity ?? []);
  assert.deepEqual(units, [0.00833, 0.00416], 'as the document says');
  assert.deepEqual(
    bought.members.slice(0, 2).map(({ order }) => order?.protection?.stop_loss !== undefined),
    [true, true],
  );

  const waiting = (await post(rests)).body;
  assert.deepEqual(codes(waiting), ['placed', 'placed', 'account_halted']);
  assert.deepEqual(codes((await post(takesBack)).body), ['done', 'done', 'done']);
  for (const { order } of waiting.members.slice(0, 2))
    assert.equal((await world.order(first, order?.order_id ?? '')).status, 'cancelled');

  const reported = (await post(reports)).body;
  assert.deepEqual(
    reported.members.map(({ strategy_position }) => strategy_position),
    [1, 0.5, 1],
    'each by its factor',
  );
});
