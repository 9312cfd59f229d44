// Groups from the command line: listed, shown, and sent to.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openGroup } from '../orders/group-desk.ts';
import type { Trader } from '../world.ts';
import { terminal } from './terminal.ts';

async function openDesk(t: TestContext) {
  const made = await openGroup(t, {
    group: { name: 'Trend' },
    members: (index) =>
      [{}, { factor: 0.5, symbols: { 'BTCUSDT.P': 'ETHUSDT' } }, { enabled: false }][index] ?? {},
  });
  const url = await made.world.server.listen({ host: '127.0.0.1', port: 0 });
  const run = terminal(made.world.config, { client: { url, key: made.first.apiKey } });
  return { ...made, url, run };
}

test('a group is listed with its members, and shown with what each of them takes', async (t) => {
  const { run, traders, group, halt } = await openDesk(t);
  await halt(traders[1] as Trader);
  const listed = await run('groups', 'list');
  assert.equal(listed.code, 0, listed.err);
  assert.match(listed.out, /^NAME +ENTRIES +OLDEST SIGNAL +MEMBERS +GROUP\nTrend +taken +300 s +/);
  assert.ok(listed.out.includes('No 1 × 0.5, No 2 (disabled)'), listed.out);

  const shown = await run('groups', 'show', 'Trend');
  assert.equal(shown.code, 0, shown.err);
  assert.ok(shown.out.includes(`\n${group.webhook_url}\n`), 'where alerts go');
  assert.equal(shown.out.includes(group.webhook_secret), false, 'and not what proves them');
  assert.match(shown.out, /^No 1 +paper +0\.5 +exits only: halted +BTCUSDT\.P → ETHUSDT +/m);
  assert.match(shown.out, /^No 2 +paper +1 +nothing: disabled here +– /m);
  assert.match(shown.out, / paper +1 +all +– /);

  const document = JSON.parse((await run('groups', 'show', group.id, '--json')).out);
  assert.deepEqual([document.id, document.members.length], [group.id, 3]);
  assert.deepEqual(
    JSON.parse((await run('groups', 'list', '--json')).out).map(({ id }: { id: string }) => id),
    [group.id],
  );
});

test('a group that is not there, or of which there are two, is told so', async (t) => {
  const { run, world, first, group } = await openDesk(t);
  const none = await run('groups', 'show', 'Trent');
  assert.deepEqual([none.code, none.out], [1, '']);
  assert.match(none.err, /no group Trent/);
  const again = await world.as<{ id: string }>(first, 'POST', '/trading/groups', {
    name: 'Trend',
    members: group.members.map(({ trading_account_id }) => ({ trading_account_id })),
  });
  assert.equal(again.status, 201);
  for (const args of [
    ['groups', 'show', 'Trend'],
    ['signal', 'send', '--group', 'Trend', '--action', 'close', '--symbol', 'BTCUSDT'],
  ]) {
    const several = await run(...args);
    assert.equal(several.code, 1);
    assert.ok(several.err.includes(group.id) && several.err.includes(again.body.id), several.err);
  }
});

test('a test signal goes to all members of a group, sized and priced as its options say', async (t) => {
  const { run, world, first, traders } = await openDesk(t);
  const to = ['signal', 'send', '--group', 'Trend', '--symbol', 'BTCUSDT'] as const;
  const sized = await run(
    ...to,
    '--action',
    'buy',
    '--quantity',
    '50000',
    '--quantity-type',
    'cash',
    '--json',
  );
  assert.equal(sized.code, 0, sized.err);
  const { members } = JSON.parse(sized.out);
  assert.deepEqual(
    members.map(({ trading_account_id, order }: never) => [
      trading_account_id,
      (order as { quantity_type: string }).quantity_type,
    ]),
    traders.slice(0, 2).map(({ account }) => [account.id, 'cash']),
  );
  const rests = await run(
    ...[...to, '--action', 'buy', '--quantity', '1', '--limit-price', '1000', '--expires-in', '600'],
  );
  assert.equal(rests.code, 0, rests.err);
  assert.match(
    rests.out,
    /^\S+Z placed buy 1 BTCUSDT .*\n\S+Z placed buy 1 ETHUSDT .*\n2 accepted, 0 refused/,
  );
  const opened = (await world.audits(first)).find(({ action }) => action === 'group_secret_shown');
  assert.deepEqual([opened?.ip_address, opened?.request_path], ['command line', 'signal send']);
  const both = await run(...to, '--account', traders[0]?.account.id ?? '', '--action', 'close');
  assert.deepEqual(
    [both.code, both.err],
    [2, 'Say where to send it: give one of --account, --group and --url.\n'],
  );
});
