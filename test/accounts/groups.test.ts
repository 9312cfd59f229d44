// Groups over the API: made, changed, left by deleted accounts; and nobody else's.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import type { GroupWithSecret, ShownGroup } from '../../src/app/accounts/groups.ts';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openWorld, type Problem, type Trader } from '../world.ts';

const member = ({ account }: Trader, more: object = {}) => ({ trading_account_id: account.id, ...more });

async function openDesk(t: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(t);
  const first = await world.makeTrader();
  const second = await world.addAccount(first, { name: 'Second' });
  const make = <Body = GroupWithSecret>(body: object) =>
    world.as<Body>(first, 'POST', '/trading/groups', body);
  return { world, first, second, make };
}

describe('a group', () => {
  test('is made with its own URL and secret, read, listed, changed and deleted', async (t) => {
    const { world, first, second, make } = await openDesk(t);
    const made = await make({
      name: 'Both',
      members: [
        member(first),
        member(second, { factor: 0.5, symbols: { 'BTCUSDT.P': 'BTCUSDT' }, enabled: false }),
      ],
    });
    assert.equal(made.status, 201);
    const { webhook_secret, ...shown } = made.body;
    assert.match(shown.webhook_url, /\/webhook\/group-[\w-]{43}\/order$/);
    assert.equal(webhook_secret.length, 43);
    assert.deepEqual(
      [shown.name, shown.max_request_age, shown.enabled, shown.members],
      [
        'Both',
        300,
        true,
        [
          { ...member(first), factor: 1, symbols: {}, enabled: true },
          { ...member(second), factor: 0.5, symbols: { 'BTCUSDT.P': 'BTCUSDT' }, enabled: false },
        ],
      ],
    );
    const url = `/trading/groups/${shown.id}`;
    assert.deepEqual((await world.as(first, 'GET', url)).body, shown);
    assert.deepEqual((await world.as(first, 'GET', '/trading/groups')).body, {
      items: [shown],
      next_cursor: null,
    });

    const patch = {
      name: 'Two',
      max_request_age: 60,
      enabled: false,
      members: [member(second), member(first)],
    };
    const changed = await world.as<ShownGroup>(first, 'PATCH', url, patch);
    assert.deepEqual(
      [changed.status, changed.body.name, changed.body.max_request_age, changed.body.enabled],
      [200, 'Two', 60, false],
    );
    assert.deepEqual(
      changed.body.members.map((each) => each.trading_account_id),
      [second.account.id, first.account.id],
    );
    const secret = await world.inSession<GroupWithSecret>(first, 'POST', `${url}/webhook-secret`);
    assert.notEqual(secret.body.webhook_secret, webhook_secret);
    assert.deepEqual((await world.inSession(first, 'GET', `${url}/webhook-secret`)).body, {
      webhook_secret: secret.body.webhook_secret,
    });
    const token = await world.inSession<ShownGroup>(first, 'POST', `${url}/webhook-token`);
    assert.notEqual(token.body.webhook_token, shown.webhook_token);
    assert.equal((await world.as(first, 'DELETE', url)).status, 204);
    const gone = await world.as<Problem>(first, 'GET', url);
    assert.deepEqual([gone.status, gone.body.code], [404, 'group_not_found']);
    const actions = (await world.audits(first)).map(({ action }) => action);
    assert.deepEqual(actions, [
      'group_created',
      'group_updated',
      'group_secret_regenerated',
      'group_secret_shown',
      'group_token_regenerated',
      'group_deleted',
    ]);
  });

  test('of another user does not exist, and neither do another user’s accounts, groups or nobody’s in it', async (t) => {
    const { world, first, second, make } = await openDesk(t);
    const other = await world.makeTrader();
    const { body } = await make({ name: 'Both', members: [member(first), member(second)] });
    for (const [method, rest, sent] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['GET', '/webhook-secret', undefined],
      ['POST', '/webhook-secret', undefined],
      ['POST', '/webhook-token', undefined],
      ['POST', '/check', { message: '{}' }],
    ] as const) {
      const answer = await world.inSession<Problem>(other, method, `/trading/groups/${body.id}${rest}`, sent);
      assert.deepEqual([answer.status, answer.body.code], [404, 'group_not_found'], `${method} ${rest}`);
    }
    for (const stranger of [other.account.id, body.id, randomUUIDv7()]) {
      const members = [member(first), { trading_account_id: stranger }];
      const made = await make<Problem>({ name: 'G', members });
      assert.deepEqual([made.status, made.body.code], [404, 'not_found']);
      const patched = await world.as<Problem>(first, 'PATCH', `/trading/groups/${body.id}`, { members });
      assert.deepEqual([patched.status, patched.body.code], [404, 'not_found']);
    }
    assert.equal(
      (await world.as<ShownGroup>(first, 'GET', `/trading/groups/${body.id}`)).body.members.length,
      2,
    );
  });

  test('that makes no sense is refused, and says what is wrong', async (t) => {
    const { first, second, make } = await openDesk(t);
    const pair = [member(first), member(second)];
    const many = Array.from({ length: 21 }, () => ({ trading_account_id: randomUUIDv7() }));
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ members: pair }, /name/],
      [{ name: ' ', members: pair }, /name/],
      [{ name: 'G' }, /members/],
      [{ name: 'G', members: [member(first)] }, /members/],
      [{ name: 'G', members: many }, /members/],
      [{ name: 'G', members: [member(first), member(first)] }, /once/],
      [{ name: 'G', members: [member(first), member(second, { factor: 0 })] }, /factor/],
      [{ name: 'G', members: [member(first), member(second, { factor: -1 })] }, /factor/],
      [{ name: 'G', members: [member(first), member(second, { factor: 1001 })] }, /factor/],
      [{ name: 'G', members: [member(first), member(second, { factor: 'half' })] }, /factor/],
      [{ name: 'G', members: [member(first), member(second, { symbols: { 'A B': 'C' } })] }, /symbols/],
      [{ name: 'G', members: [member(first), member(second, { symbols: { A: '' } })] }, /symbols/],
      [{ name: 'G', members: [member(first), member(second, { symbols: { A: 1 } })] }, /symbols/],
      [{ name: 'G', max_request_age: 9, members: pair }, /max_request_age/],
      [{ name: 'G', members: pair, secret: 'mine' }, /secret/],
      [{ name: 'G', members: [{ ...member(first), quantity: 2 }, member(second)] }, /quantity/],
    ];
    for (const [body, words] of cases) {
      const answer = await make<Problem>(body);
      assert.deepEqual([answer.status, answer.body.code], [400, 'request_invalid'], JSON.stringify(body));
      assert.match(answer.body.detail, words);
    }
  });

  test('is one of 50 at the most', async (t) => {
    const { first, second, make } = await openDesk(t);
    const body = { name: 'Same', members: [member(first), member(second)] };
    for (let count = 0; count < 50; count++) assert.equal((await make(body)).status, 201);
    const refused = await make<Problem>(body);
    assert.deepEqual([refused.status, refused.body.code], [409, 'group_conflict']);
  });

  test('is left by an account that is deleted, which may leave one; and a change demands two', async (t) => {
    const { world, first, second, make } = await openDesk(t);
    const { body } = await make({ name: 'Both', members: [member(first), member(second)] });
    assert.equal((await world.as(first, 'DELETE', `/trading/accounts/${second.account.id}`)).status, 204);
    const left = await world.as<ShownGroup>(first, 'GET', `/trading/groups/${body.id}`);
    assert.deepEqual(
      left.body.members.map((each) => each.trading_account_id),
      [first.account.id],
    );
    const url = `/trading/groups/${body.id}`;
    assert.equal((await world.as(first, 'PATCH', url, { members: [member(first)] })).status, 400);
    const gone = await world.as<Problem>(first, 'PATCH', url, { members: [member(first), member(second)] });
    assert.deepEqual([gone.status, gone.body.code], [404, 'not_found']);
  });

  test('two changes at one moment are both heard', async (t) => {
    const { world, first, second, make } = await openDesk(t);
    const { body } = await make({ name: 'Both', members: [member(first), member(second)] });
    const url = `/trading/groups/${body.id}`;
    const patches = [{ name: 'New' }, { enabled: false }, { max_request_age: 30 }];
    const answers = await Promise.all(patches.map((patch) => world.as(first, 'PATCH', url, patch)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const { name, enabled, max_request_age } = (await world.as<ShownGroup>(first, 'GET', url)).body;
    assert.deepEqual([name, enabled, max_request_age], ['New', false, 30]);
  });

  test('after a theft is offered for replacement, and no longer once it is replaced', async (t) => {
    const { world, first, second, make } = await openDesk(t);
    const { body } = await make({ name: 'Both', members: [member(first), member(second)] });
    await world.inSession(first, 'GET', `/trading/groups/${body.id}/webhook-secret`);
    interface Offers {
      readonly replace_groups: { kind: string; group_id: string; shown_at: string | null }[];
    }
    const offered = async () =>
      (await world.inSession<Offers>(first, 'GET', '/settings/after-theft')).body.replace_groups;
    await world.db.commit([
      sql`update users set secured_at = ${timestamp(world.clock.now())}, secured_because = 'logout_everywhere',
            exposed_since = ${timestamp(0)} where id = ${first.user.id}`,
    ]);
    const found = await offered();
    assert.deepEqual(
      found.map(({ kind, group_id, shown_at }) => [kind, group_id, shown_at !== null]),
      [
        ['webhook_secret', body.id, true],
        ['webhook_token', body.id, false],
      ],
    );
    for (const what of ['webhook-secret', 'webhook-token'])
      await world.inSession(first, 'POST', `/trading/groups/${body.id}/${what}`);
    assert.deepEqual(await offered(), []);
  });
});
