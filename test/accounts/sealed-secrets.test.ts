// Webhook secrets and those of authenticators, at rest: each is bound to whose it is. Who can write to the database and
// has no key cannot put a secret that he knows into the place of one that he does not.

import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createSecretBox, openingOnce } from '../../src/app/secret-box.ts';
import { sql } from '../../src/data/engine/db.ts';
import { stepAt, totpCode } from '../../src/domain/identity/totp.ts';
import { digestOf } from '../../src/domain/signals/secret-digest.ts';
import { openWorld, PASSWORD, type Problem, type Trader, type World } from '../world.ts';

const KEY = Buffer.alloc(32, 7);

/** As they were sealed before. */
function sealedUnbound(plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce);
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return [nonce, text, cipher.getAuthTag()].map((part) => part.toString('base64url')).join('.');
}

const stored = async (world: World, { account }: Trader) =>
  (
    await world.db.get<{ webhook_secret: string }>(
      sql`select webhook_secret from trading_accounts where id = ${account.id}`,
    )
  )?.webhook_secret ?? '';
const store = (world: World, { account }: Trader, sealed: string) =>
  world.db.commit([sql`update trading_accounts set webhook_secret = ${sealed} where id = ${account.id}`]);

describe('a sealed secret', () => {
  const box = createSecretBox(KEY);

  test('opens for its owner alone, and says whose it is not', () => {
    const sealed = box.seal('the secret', 'a');
    assert.equal(box.open(sealed, 'a'), 'the secret');
    assert.throws(() => box.open(sealed, 'b'), /is not this owner's/);
    assert.throws(
      () => box.open(sealed.replace(/^[^.]*\./, ''), 'a'),
      /is not this owner's/,
      'nor as one from before',
    );
    assert.throws(() => box.open('a.b', 'a'), /expected form/);
    assert.throws(() => createSecretBox(Buffer.alloc(32, 8)).open(sealed, 'a'));
  });

  test('from before secrets had owners still opens, and is told apart', () => {
    const sealed = sealedUnbound('the secret');
    assert.equal(box.open(sealed, 'a'), 'the secret');
    assert.deepEqual([box.isBound(sealed), box.isBound(box.seal('x', 'a'))], [false, true]);
  });
});

describe('a sealed secret that is asked for with every signal', () => {
  test('is opened once, and compared with what is given each time', () => {
    let opened = 0;
    const box = createSecretBox(KEY);
    const counting = {
      ...box,
      open(sealed: string, owner: string) {
        opened++;
        return box.open(sealed, owner);
      },
    };
    const once = openingOnce(counting);
    const sealed = box.seal('the secret', 'a');
    assert.deepEqual(
      ['the secret', 'the secre', '', 'the secret '].map((given) =>
        once.opensTo(digestOf(given), sealed, 'a'),
      ),
      [true, false, false, false],
    );
    assert.equal(once.open(sealed, 'a'), 'the secret');
    assert.equal(opened, 1);
    assert.throws(() => once.opensTo(digestOf('the secret'), sealed, 'b'), /is not this owner's/);
    assert.equal(
      once.opensTo(digestOf('another'), box.seal('another', 'a'), 'a'),
      true,
      'one that was sealed anew',
    );
  });

  test('from before secrets had owners is its own in each place', () => {
    const once = openingOnce(createSecretBox(KEY));
    const sealed = sealedUnbound('the secret');
    for (const owner of ['a', 'b', 'a'])
      assert.equal(once.opensTo(digestOf('the secret'), sealed, owner), true);
  });
});

describe('a webhook secret', () => {
  test('that is moved to another account’s row in the database opens nothing there, and nothing is traded', async (t) => {
    const world = await openWorld(t);
    const [victim, mallory] = [await world.makeTrader(), await world.makeTrader()];
    await store(world, victim, await stored(world, mallory));
    const moved = await world.send<Problem>(victim, { secret: mallory.secret });
    assert.equal(moved.status, 500);
    assert.deepEqual(await world.orders(victim), []);
    const shown = await world.inSession<Problem>(
      victim,
      'GET',
      `/trading/accounts/${victim.account.id}/webhook-secret`,
    );
    assert.equal(shown.status, 500);
    // A new one heals it.
    const url = `/trading/accounts/${victim.account.id}/webhook-secret`;
    const { body } = await world.inSession<{ webhook_secret: string }>(victim, 'POST', url);
    assert.equal((await world.send(victim, { secret: body.webhook_secret })).status, 200);
  });

  test('from before works on, and is bound to its account at the next start', async (t) => {
    const world = await openWorld(t);
    const traders = await Promise.all(Array.from({ length: 3 }, () => world.makeTrader()));
    for (const trader of traders) await store(world, trader, sealedUnbound(trader.secret));
    for (const trader of traders) assert.equal((await world.send(trader)).status, 200);
    await world.restart();
    for (const trader of traders) {
      assert.ok(world.secrets.isBound(await stored(world, trader)));
      assert.equal((await world.send(trader)).status, 200);
    }
    const [victim, mallory] = traders as [Trader, Trader];
    await store(world, victim, await stored(world, mallory));
    assert.equal((await world.send(victim, { secret: mallory.secret })).status, 500);
  });

  test('that cannot be opened keeps nobody from starting', async (t) => {
    const world = await openWorld(t);
    const [broken, whole] = [await world.makeTrader(), await world.makeTrader()];
    await store(world, broken, 'what.is.this');
    await store(world, whole, sealedUnbound(whole.secret));
    await world.restart();
    assert.ok(world.secrets.isBound(await stored(world, whole)));
    assert.equal((await world.send(whole)).status, 200);
  });
});

describe('the secret of an authenticator', () => {
  test('is its user’s too, and one from before is bound at the next start', async (t) => {
    const world = await openWorld(t);
    const secret = Buffer.alloc(20, 3);
    const users = await Promise.all([world.register(), world.register()]);
    const now = new Date(world.clock.now()).toISOString();
    for (const { id } of users)
      await world.db.commit([
        sql`insert into second_factors (user_id, totp_secret, created_at, confirmed_at, last_step)
            values (${id}, ${sealedUnbound(secret.toString('base64url'))}, ${now}, ${now}, 0)`,
      ]);
    await world.restart();
    const [victim, mallory] = users;
    const enter = (email = '') =>
      world.request({
        method: 'POST',
        url: '/auth/token',
        body: {
          grant_type: 'password',
          username: email,
          password: PASSWORD,
          totp_code: totpCode(secret, stepAt(world.clock.now())),
        },
      });
    assert.equal((await enter(mallory?.email)).status, 200);
    await world.db.commit([
      sql`update second_factors set last_step = 0, totp_secret =
            (select totp_secret from second_factors where user_id = ${mallory?.id ?? ''})
          where user_id = ${victim?.id ?? ''}`,
    ]);
    assert.equal((await enter(victim?.email)).status, 500);
  });
});
