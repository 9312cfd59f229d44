// Credentials that were good once and are refused now hold back entries, and nothing that gets anybody out of a position.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ShownAccount } from '../../src/app/accounts/accounts.ts';
import { AccountUnfit, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import type { SealingKey } from '../../src/domain/identity/sealed.ts';
import { sealCredentials } from '../../web/pages/accounts/seal.ts';
import { type ScriptedBroker, scriptedWorld } from '../worker/scripted-broker.ts';
import type { Problem, Trader, World } from '../world.ts';

const REFUSED: Partial<Account> = { credentialsVerified: false, credentialsRefused: true };
const NEVER_VERIFIED: Partial<Account> = { credentialsVerified: false };

const urlOf = ({ account }: Trader, rest = '') => `/trading/accounts/${account.id}${rest}`;
const verify = (world: World, trader: Trader) => world.as<Problem>(trader, 'POST', urlOf(trader, '/verify'));
async function putOthers(world: World, trader: Trader): Promise<void> {
  const key = await world.request<SealingKey>({ method: 'GET', url: '/auth/public-key' });
  const sealed = await sealCredentials(key.body, {
    userId: trader.user.id,
    accountId: trader.account.id,
    credentials: { api_key: 'another' },
  });
  const put = await world.as(trader, 'PUT', urlOf(trader, '/credentials'), { sealed });
  assert.equal(put.status, 200);
}
/** Whether they are verified, and whether they were refused after that. */
async function flagsOf(world: World, trader: Trader): Promise<[verified: boolean, refused: boolean]> {
  const { body } = await world.as<ShownAccount>(trader, 'GET', urlOf(trader));
  return [body.broker_credentials_verified, body.credentials_refused];
}
const refuse = (broker: ScriptedBroker, times?: number) =>
  broker.script('open', () => Promise.reject(new CredentialsRejected('401 from the broker')), times);

describe('a flag that a refusal has cleared', () => {
  for (const [action, expected] of [
    ['long_entry', '400 credentials_not_verified'],
    ['long_exit', '200 filled'],
    ['close_long', '200 filled'],
  ] as const)
    test(`${action}: ${expected}`, async (t) => {
      const { broker, world } = await scriptedWorld(t);
      const trader = await world.makeTrader({}, REFUSED);
      broker.give(trader.account.id, 1);
      const { status, body } = await world.send<{ code?: string; status: unknown }>(trader, { action });
      assert.equal(`${status} ${body.code ?? body.status}`, expected);
      assert.deepEqual(
        await flagsOf(world, trader),
        [false, true],
        'an exit that is filled leaves it as it is',
      );
    });

  test('is another thing than one that was never set: those credentials hold back all', async (t) => {
    const { broker, world } = await scriptedWorld(t);
    const trader = await world.makeTrader({}, NEVER_VERIFIED);
    broker.give(trader.account.id, 1);
    for (const action of ['long_entry', 'long_exit', 'close_long']) {
      const { status, body } = await world.send<Problem>(trader, { action });
      assert.equal(`${status} ${body.code}`, '400 credentials_not_verified', action);
    }
  });

  test('is set again by a verification, which ends the refusal', async (t) => {
    const { world } = await scriptedWorld(t);
    const trader = await world.makeTrader({}, REFUSED);
    assert.equal((await verify(world, trader)).status, 200);
    assert.deepEqual(await flagsOf(world, trader), [true, false]);
    assert.equal((await world.send(trader, { action: 'long_entry' })).status, 200);
  });

  test('is forgotten with the credentials: new ones were never verified', async (t) => {
    const { world } = await scriptedWorld(t);
    const trader = await world.makeTrader({}, REFUSED);
    await putOthers(world, trader);
    assert.deepEqual(await flagsOf(world, trader), [false, false]);
  });
});

describe('new credentials that were not verified yet', () => {
  test('hold back an exit that is under way, and not only those to come: it goes out once they are verified', async (t) => {
    const { broker, waits, world, trader } = await scriptedWorld(t, {
      env: { RESPONSE_WAIT_SECONDS: '0.2' },
    });
    await world.send(trader, { action: 'long_entry' });
    for (const call of ['open', 'positions', 'position'] as const)
      broker.script(call, () => Promise.reject(new BrokerUnavailable('it is away')));
    const { body } = await world.send(trader, { action: 'close_long' });

    await putOthers(world, trader);
    broker.forgetScripts();
    // A page may ask with them: whose they are is shown by what it says.
    assert.equal((await world.as(trader, 'GET', urlOf(trader, '/positions'))).status, 200);
    // It goes on trying: in each round it reconnects three times.
    const before = waits.length;
    await world.eventually(
      async () => waits.length,
      (tries) => tries >= before + 6 || broker.trades().length > 1,
    );
    assert.deepEqual(broker.trades(), ['buy 1']);

    assert.equal((await verify(world, trader)).status, 200);
    const { status } = await world.eventually(
      () => world.order(trader, body.order_id),
      (order) => order.status === 'filled',
    );
    assert.deepEqual([status, broker.trades()], ['filled', ['buy 1', 'sell 1']]);
  });
});

describe('a verification that is refused', () => {
  test('of credentials that had been verified leaves the way out open', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    refuse(broker);
    assert.equal((await verify(world, trader)).body.code, 'credentials_rejected');
    assert.deepEqual(await flagsOf(world, trader), [false, true]);
    assert.equal((await verify(world, trader)).body.code, 'credentials_rejected');
    assert.deepEqual(await flagsOf(world, trader), [false, true], 'however often it is refused');
  });

  test('of credentials that never were does not', async (t) => {
    const { broker, world } = await scriptedWorld(t);
    const trader = await world.makeTrader({}, NEVER_VERIFIED);
    refuse(broker);
    assert.equal((await verify(world, trader)).body.code, 'credentials_rejected');
    assert.deepEqual(await flagsOf(world, trader), [false, false]);
  });

  test('because the account cannot be traded any more leaves it open too', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('verify', () => Promise.reject(new AccountUnfit('it is hedged now')));
    assert.equal((await verify(world, trader)).body.code, 'account_unfit');
    assert.deepEqual(await flagsOf(world, trader), [false, true]);
  });
});

describe('a broker that refuses the credentials', () => {
  const askForPositions = (world: World, trader: Trader) =>
    world.as<Problem>(trader, 'GET', urlOf(trader, '/positions'));

  test('once, to a page’s question: the page is answered, the flag stays, and the exit is filled', async (t) => {
    const { broker, waits, world, trader } = await scriptedWorld(t);
    await world.send(trader, { action: 'long_entry' });
    broker.script('positions', () => Promise.reject(new CredentialsRejected('401')), 1);
    assert.equal((await askForPositions(world, trader)).status, 200);
    assert.deepEqual([waits, await flagsOf(world, trader)], [[2_000], [true, false]]);
    assert.equal((await world.send(trader, { action: 'close_long' })).body.status, 'filled');
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('to an exit, twice: it is sent once, and filled', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    await world.send(trader, { action: 'long_entry' });
    broker.script('place', () => Promise.reject(new CredentialsRejected('401')), 2);
    assert.equal((await world.send(trader, { action: 'close_long' })).body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1', 'sell 1']);
    assert.deepEqual(await flagsOf(world, trader), [true, false]);
  });

  test('for good: pages are told so, and after a while in which nobody came, the kill switch still closes', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    await world.send(trader, { action: 'long_entry' });
    broker.script('positions', () => Promise.reject(new CredentialsRejected('401')), 3);
    assert.equal((await askForPositions(world, trader)).body.code, 'broker_unavailable');
    assert.deepEqual(await flagsOf(world, trader), [false, true]);
    const asked = broker.calls.length;
    assert.equal((await askForPositions(world, trader)).body.code, 'broker_unavailable');
    assert.equal(broker.calls.length, asked, 'they are not presented for a page');

    const { body } = await world.as<{ flatten_error: object | null }>(
      trader,
      'POST',
      urlOf(trader, '/halt'),
      {
        flatten: true,
      },
    );
    assert.deepEqual([body.flatten_error, broker.position(trader.account.id)], [null, '0']);
    assert.deepEqual(await flagsOf(world, trader), [false, true]);
  });

  test('an entry that was accepted before is not sent once they are refused, nor is any part of it', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const held = broker.hold('position', 'after');
    const entry = world.send(trader, { action: 'long_entry' });
    await held.reached;
    broker.script('positions', () => Promise.reject(new CredentialsRejected('401')), 3);
    await askForPositions(world, trader);
    held.release();
    const { body } = await entry;
    assert.equal(body.status, 'failed');
    assert.match(body.error?.message ?? '', /credentials are not verified any more/);
    assert.deepEqual(broker.trades(), []);
  });
});
