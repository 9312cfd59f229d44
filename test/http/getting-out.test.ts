// May this keep somebody in a position? Every refusal has its answer (getting-out.ts), docs/architecture/getting-out.md
// shows them all, and what the answers say is so.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { DenialCode } from '../../src/domain/denial.ts';
import { DENIALS } from '../../src/domain/denials.ts';
import { entitlements } from '../../src/domain/orders/entitlement.ts';
import { type OrderIntent, REJECTION_CODES } from '../../src/domain/orders/order.ts';
import { failuresOf } from '../../src/http/docs/openapi-errors.ts';
import { openWorld } from '../world.ts';
import { type Answer, DENIED, REJECTED } from './getting-out.ts';

const WORDS: Readonly<Record<Answer['exit'], string>> = {
  holds: 'yes',
  passes: 'it passes',
  never: 'no',
};

/** One row for all that have one answer; what holds back exits comes first. */
function rowsOf(answers: Readonly<Record<string, Answer>>): string[] {
  const byWhy = Map.groupBy(Object.entries(answers), ([, { exit, why }]) => `${WORDS[exit]} | ${why}`);
  const rows = [...byWhy].map(
    ([answer, codes]) => `| ${codes.map(([code]) => `\`${code}\``).join(', ')} | ${answer} |`,
  );
  const places = Object.values(WORDS);
  const placeOf = (row: string) => places.findIndex((word) => row.includes(`| ${word} |`));
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const tableOf = (of: string, answers: Readonly<Record<string, Answer>>): string =>
  [`| ${of} | holds back an exit? | why, or what is done |`, '|---|---|---|', ...rowsOf(answers)].join('\n');

test('docs/architecture/getting-out.md has every refusal with its answer, and no other', () => {
  const text = readFileSync(new URL('../../docs/architecture/getting-out.md', import.meta.url), 'utf8');
  const expected = [tableOf('denial', DENIED), tableOf('rejection', REJECTED)].join('\n\n');
  const found = text.split('\n').filter((line) => line.startsWith('|'));
  assert.deepEqual(found, expected.split('\n').filter(Boolean), `the tables have to be:\n\n${expected}\n`);
});

test('every denial and every rejection has an answer, which says why', () => {
  assert.deepEqual(Object.keys(DENIED).sort(), Object.keys(DENIALS).sort());
  assert.deepEqual(Object.keys(REJECTED).sort(), [...REJECTION_CODES].sort());
  for (const { why } of [...Object.values(DENIED), ...Object.values(REJECTED)])
    assert.match(why, /^.{15,}[^.]$/);
});

/** By which somebody gets out: a signal, an order by hand, an alignment, the kill switch. */
const WAYS_OUT = [
  'POST /webhook/:token/order',
  'POST /trading/order',
  'POST /trading/accounts/:id/align',
  'POST /trading/accounts/:id/halt',
];

test('what no exit is said to meet, no way out answers', async (t) => {
  const world = await openWorld(t);
  await world.server.ready();
  const ways = world.server.routeTable.filter(({ method, url }) => WAYS_OUT.includes(`${method} ${url}`));
  assert.equal(ways.length, WAYS_OUT.length);
  const isOurs = (code: string): code is DenialCode => code in DENIED;
  for (const way of ways)
    for (const { code } of failuresOf(way))
      if (isOurs(code)) assert.notEqual(DENIED[code].exit, 'never', `${way.url} answers ${code}`);
});

test('what is said to let exits pass lets pass whoever can hold something', () => {
  const exits: OrderIntent[] = [
    { operation: 'PLACE_EXIT_ORDER', direction: 'long' },
    { operation: 'CLOSE_POSITION', direction: null },
  ];
  const met = new Set<DenialCode>();
  for (const intent of exits)
    for (const halted of [true, false])
      for (const simulation_only of [true, false])
        for (const terms of ['accepted', 'outdated'] as const)
          for (const credentials of ['verified', 'refused', 'never_verified'] as const)
            for (const { code } of entitlements({
              ...{ intent, halted, terms, credentials, simulation: false, hadPlan: true },
              plan: { simulation_only, daily_orders: 1 },
              ordersToday: 5,
              secondsLeftToday: 1,
            }))
              met.add(code);
  assert.deepEqual([...met], ['credentials_not_verified']);
  assert.equal(DENIED.credentials_not_verified.exit, 'holds');
});
