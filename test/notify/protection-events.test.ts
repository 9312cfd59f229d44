// Of protections their owner is told what was hit, what was refused and what is without a stop: each once.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { audit, OURSELVES } from '../../src/app/audit/audit.ts';
import { openDesk } from './desk.ts';

/** Where the broker refuses a stop, it is not tried for long. Elsewhere a slow machine has all the time that it needs for one. */
const REFUSING = { PROTECT_SECONDS: '1' };

async function protectedDesk(t: TestContext, unprotected: 'close' | 'alert' = 'close', env = {}) {
  const desk = await openDesk(t, { env: { PROTECTION_SWEEP_SECONDS: '1', ...env } });
  const trader = await desk.world.makeTrader({}, { unprotected, paper: paperAt(65_000) });
  await desk.add(trader);
  const texts = () => desk.sent.map(({ message: { event, title } }) => `${event}: ${title}`);
  return { ...desk, trader, texts };
}
const paperAt = (price: number, more = {}) => ({ latency_ms: 0, price: { BTCUSDT: price }, ...more });

test('a target and a stop that were hit are told as that, and not as fills besides', async (t) => {
  const { world, trader, until, settled, kinds, sent } = await protectedDesk(t);
  const { body } = await world.send(trader, {
    quantity: 2,
    stop_loss: 64_000,
    take_profit: [{ at: 66_000, percent: 50 }],
  });
  assert.equal(body.status, 'filled');
  await world.eventually(
    () => world.audits(trader),
    (entries) => entries.some(({ action }) => action === 'protection_set'),
  );
  await world.setPaper(trader, paperAt(66_500));
  await until(() => kinds().includes('target_hit'));
  await world.setPaper(trader, paperAt(63_000));
  await until(() => kinds().includes('stop_hit'));
  await settled();
  assert.deepEqual(kinds(), ['fill', 'target_hit', 'stop_hit']);
  const [, target, stop] = sent.map(({ message }) => message);
  assert.match(target?.text ?? '', /^Sold 1 BTCUSDT at 66\d{3}(\.\d)? on Paper\.$/);
  assert.match(stop?.text ?? '', /^Sold 1 BTCUSDT at 63000(\.\d)? on Paper\.$/);
  assert.deepEqual([stop?.data.exit_reason, stop?.data.caused_by], ['stop_loss', body.order_id]);
});

test('a stop that the broker refuses is told, and that the position was closed for it', async (t) => {
  const { world, trader, until, settled, texts } = await protectedDesk(t, 'close', REFUSING);
  await world.setPaper(trader, paperAt(65_000, { protection: 'refuse' }));
  await world.send(trader, { stop_loss: 64_000 });
  await until(() => texts().some((text) => /^unprotected: The position without/.test(text)));
  await settled();
  assert.deepEqual(texts().toSorted(), [
    'fill: Fill',
    'protection_failed: Closed, because the broker took no stop',
    'protection_failed: The broker refuses a stop',
    'unprotected: A position has no stop',
    'unprotected: The position without a stop has ended',
  ]);
});

test('a position without a stop is told once, and again when it has one', async (t) => {
  const { world, trader, until, settled, texts, sent } = await protectedDesk(t, 'alert', REFUSING);
  await world.setPaper(trader, paperAt(65_000, { protection: 'refuse' }));
  await world.send(trader, { stop_loss: 64_000 });
  await until(() => texts().includes('unprotected: A position has no stop'));
  const { text } = sent.find(({ message }) => message.event === 'unprotected')?.message ?? { text: '' };
  assert.match(
    text,
    /^Paper: The long position in BTCUSDT has no stop at the broker since .* UTC\. The paper exchange refuses every stop, as the settings say\. Placing it at 64000 is tried again and again\. Look at the position/,
  );
  await world.setPaper(trader, paperAt(65_000));
  await until(() => texts().includes('unprotected: The position is protected again'));
  await settled();
  assert.equal(texts().filter((each) => each.startsWith('unprotected')).length, 2);
});

test('of a rehearsal by somebody who only knows the URL nobody is told', async (t) => {
  const { world, trader, settled, kinds } = await protectedDesk(t);
  const close = async (order: string) =>
    world.db.commit([
      audit(
        OURSELVES,
        {
          userId: trader.user.id,
          action: 'protection_triggered',
          failure: null,
          resource: { type: 'protection', id: order },
          metadata: {
            ...{ trading_account_id: trader.account.id, symbol: 'BTCUSDT', simulation: true },
            ...{ exit_reason: 'stop_loss', order_id: order, caused_by: order },
          },
        },
        world.clock.now(),
      ),
    ]);
  const unproven = await world.send(trader, { secret: undefined }, { query: '?simulation=true' });
  assert.equal(unproven.body.status, 'filled', JSON.stringify(unproven.body));
  await close(unproven.body.order_id);
  await settled();
  assert.deepEqual(kinds(), []);
});
