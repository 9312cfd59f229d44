// The sentences and the sums of the page Today.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { components } from '../../web/api/schema.ts';
import { brokerState, driftOf, entriesOf, openProfit, riskOf } from '../../web/pages/today/accounts.ts';
import { headline, proofs, signalsInWords, tabTitle } from '../../web/pages/today/answer.ts';
import { hoursOf, rugOf, sparkOf } from '../../web/pages/today/day-plots.ts';
import {
  curlCommand,
  firstSignal,
  firstSteps,
  hasOnlyBeginnersTrouble,
  isRehearsal,
  strategyMessage,
} from '../../web/pages/today/first-steps.ts';
import { heldRows } from '../../web/pages/today/held.ts';
import { markOf, nextLook, wayOn } from '../../web/pages/today/things.ts';

type Schemas = components['schemas'];
type Overview = Schemas['Overview'];
type Todo = Schemas['Todo'];

const at = (hour: number, minute = 0, day = 12): string =>
  new Date(2026, 10, day, hour, minute).toISOString();

const todo = (kind: Todo['kind'], more: Partial<Todo> = {}): Todo => ({
  kind,
  severity: ['dead_letter', 'unknown_order', 'failed_reversal', 'drift_excess'].includes(kind)
    ? 'risk'
    : 'act',
  since: at(15),
  title: 'A title.',
  detail: 'A detail.',
  ...more,
});

const account = (more: Partial<Schemas['AccountToday']> = {}): Schemas['AccountToday'] => ({
  id: 'a1',
  name: 'Bybit main',
  broker_name: 'bybit',
  environment: 'live',
  real_money: true,
  halted: false,
  halted_since: null,
  credentials: 'verified',
  credentials_since: null,
  last_signal_at: at(15),
  connection: { state: 'answering', at: at(15) },
  positions: { in_sync: 3, of: 3 },
  counted_all: true,
  orders_today: 19,
  simulated_today: 0,
  realised_today: 187.25,
  currency: 'USDT',
  profit_steps: [],
  signals_today: [],
  ...more,
});

const overview = (more: Partial<Overview> = {}): Overview => ({
  checked_at: at(15, 48),
  day_start: at(0),
  in_order: true,
  since: at(9, 12),
  last_trouble: null,
  todo: [],
  todo_more: 0,
  counted_all: true,
  orders_today: { accepted: 36, unresolved: 0, half_answered_within_ms: 41 },
  signals_today: { total: 41, executed: 38, refused: 2, rejected: 1, under_way: 0, reported: 0 },
  limit: { day: '2026-11-12', daily_orders: 2000, orders_today: 36, simulated_today: 0 },
  accounts: [account()],
  audit: { sealed: true, sealed_up_to: 18_442, entries: 18_442, unsealed_seconds: 0, checked_at: at(15, 48) },
  ...more,
});

describe('the heading of Today', () => {
  const words = (more: Partial<Overview>) => {
    const { lead, rest } = headline(overview(more));
    return rest ? `${lead} ${rest}` : lead;
  };

  test('says since when all is in order, with the day where that is not today', () => {
    assert.equal(words({}), 'All in order since 09:12');
    assert.equal(words({ since: at(9, 12, 10) }), 'All in order since 10 Nov, 09:12');
    assert.equal(words({ since: null }), 'All in order');
  });

  test('says the worst first, and how much more there is', () => {
    const three = [todo('unknown_order'), todo('drift_excess'), todo('credentials_refused')];
    assert.equal(words({ todo: three }), '1 order is unknown and 2 more things to do');
    assert.equal(headline(overview({ todo: three })).severity, 'risk');
    assert.equal(
      words({ todo: three.slice(1) }),
      '1 position differs from its strategy and 1 more thing to do',
    );
    assert.equal(words({ todo: [todo('silence')] }), '1 account is silent');
    assert.equal(headline(overview({ todo: [todo('silence')] })).severity, 'act');
  });

  test('does not call an order unknown that is placed, and that nobody asks about any more', () => {
    assert.equal(words({ todo: [todo('dead_letter')] }), '1 order is unresolved');
  });

  test('counts what is the same to a person as one', () => {
    assert.equal(words({ todo: [todo('dead_letter'), todo('unknown_order')] }), '2 orders are unresolved');
    assert.equal(
      words({ todo: [todo('credentials_not_verified'), todo('credentials_missing')] }),
      '2 accounts wait for their credentials',
    );
  });

  test('counts what is not listed, too', () => {
    assert.equal(
      words({ todo: [todo('dead_letter')], todo_more: 1200 }),
      '1 order is unresolved and 1,200 more things to do',
    );
  });

  test('stands in the tab behind the number of things to do', () => {
    assert.equal(tabTitle(overview()), 'All in order since 09:12');
    assert.equal(
      tabTitle(overview({ todo: [todo('unknown_order'), todo('silence')], todo_more: 1 })),
      '(3) 1 order is unknown and 2 more things to do',
    );
  });
});

describe('the proofs', () => {
  const words = (more: Partial<Overview>) => proofs(overview(more)).map((proof) => proof.words);

  test('add up over the accounts', () => {
    const accounts = [
      account(),
      account({ id: 'a2', positions: { in_sync: 4, of: 4 } }),
      account({ id: 'a3', positions: null, connection: { state: 'not_known', at: null } }),
    ];
    assert.deepEqual(words({ accounts }), [
      '36 of 36 orders resolved',
      '7 of 7 positions as the strategies say',
      '2 of 2 brokers answer',
      'audit log sealed to entry 18,442',
    ]);
  });

  test('say of a day that is not counted whole what is known of it', () => {
    const first = (unresolved: number) =>
      words({
        counted_all: false,
        orders_today: { accepted: 20_000, unresolved, half_answered_within_ms: 9 },
      })[0];
    assert.equal(first(0), 'the newest 20,000 orders resolved');
    assert.equal(first(3), '3 orders not resolved');
  });

  test('leave out what is not known', () => {
    assert.deepEqual(
      words({
        accounts: [],
        orders_today: { accepted: 0, unresolved: 0, half_answered_within_ms: null },
      }),
      ['no order today', 'audit log sealed to entry 18,442'],
    );
  });

  test('do not hold where something is open', () => {
    const found = proofs(
      overview({
        orders_today: { accepted: 2, unresolved: 1, half_answered_within_ms: null },
        accounts: [
          account({ positions: { in_sync: 0, of: 1 }, connection: { state: 'silent', at: at(15) } }),
        ],
        audit: { sealed: false, sealed_up_to: 7, entries: 7, unsealed_seconds: 90, checked_at: at(15) },
      }),
    );
    assert.deepEqual(
      found.map(({ holds }) => holds),
      [false, false, false, false],
    );
    assert.deepEqual(
      found.map((proof) => proof.words),
      [
        '1 of 2 orders resolved',
        '0 of 1 position as its strategy says',
        '0 of 1 broker answers',
        'audit log sealed to entry 7, newer entries unsealed for 90 s',
      ],
    );
  });

  test('the sum of the signals says every part that there is', () => {
    const said = (signals_today: Overview['signals_today'], counted_all = true) =>
      signalsInWords({ signals_today, counted_all })
        .map((part) => (typeof part === 'string' ? part : part.number))
        .join('');
    assert.equal(
      said({ total: 41, executed: 38, refused: 2, rejected: 1, under_way: 0, reported: 0 }),
      '41 signals today: 38 executed, 3 refused or rejected',
    );
    assert.equal(
      said({ total: 4, executed: 0, refused: 0, rejected: 1, under_way: 1, reported: 2 }),
      '4 signals today: 0 executed, 1 refused or rejected, 1 under way, 2 reported',
    );
    assert.equal(
      said({ total: 0, executed: 0, refused: 0, rejected: 0, under_way: 0, reported: 0 }),
      'no signal today',
    );
    assert.equal(
      said({ total: 20_000, executed: 20_000, refused: 0, rejected: 0, under_way: 0, reported: 0 }, false),
      'the newest 20,000 signals today: 20,000 executed',
    );
  });
});

describe('a thing to do', () => {
  test('has its one button', () => {
    assert.deepEqual(wayOn(todo('unknown_order')), { does: 'look', words: 'Look now' });
    assert.equal(wayOn(todo('unknown_order', { next_at: null }))?.does, 'open_story');
    assert.deepEqual(wayOn(todo('failed_reversal'))?.does, 'open_story');
    assert.deepEqual(wayOn(todo('terms_not_accepted')), { does: 'accept_terms', words: 'Read and accept…' });
    assert.deepEqual(wayOn(todo('credentials_refused'))?.words, 'Enter new credentials');
  });

  test('that only a newer service knows leads to where it is, or has no button', () => {
    const unheardOf = (more: object) => todo('unheard_of' as never, more);
    assert.equal(wayOn(unheardOf({ order_id: 'o', trading_account_id: 'a' }))?.does, 'open_story');
    assert.equal(wayOn(unheardOf({ order_id: null, trading_account_id: 'a' }))?.does, 'open_account');
    assert.equal(wayOn(unheardOf({ order_id: null, trading_account_id: null })), null);
  });

  test('states the order of an Align on the button, and asks once more', () => {
    const drift = { symbol: 'SOLUSDT.P', strategy_position: 0, broker_position: 40 };
    assert.equal(wayOn(todo('drift_excess', drift))?.words, 'Sell 40 SOLUSDT.P to align…');
    assert.equal(
      wayOn(todo('drift_excess', { ...drift, broker_position: null }))?.words,
      'Align SOLUSDT.P…',
      'what the account holds was not noted',
    );
  });

  test('has the mark of its kind', () => {
    assert.equal(markOf(todo('dead_letter')), 'unknown');
    assert.equal(markOf(todo('drift_missing')), 'differs');
    assert.equal(markOf(todo('failed_reversal')), 'risk');
    assert.equal(markOf(todo('silence')), 'act');
  });

  test('says when the broker is asked next', () => {
    const unknown = todo('unknown_order', { next_at: at(15, 48) });
    const then = Date.parse(at(15, 48));
    assert.equal(nextLook(unknown, then - 18_000), 'The next in 18 s.');
    assert.equal(nextLook(unknown, then + 500), 'The next one is being made now.');
    assert.equal(nextLook(todo('dead_letter', { next_at: null }), then), null);
  });
});

describe('an account’s day', () => {
  test('names the credentials before the connection', () => {
    const state = (more: Partial<Schemas['AccountToday']>) => brokerState(account(more)).words;
    assert.equal(state({}), 'answering');
    assert.equal(state({ credentials: 'refused' }), 'refused');
    assert.equal(state({ credentials: 'missing' }), 'no credentials');
    assert.equal(state({ connection: { state: 'silent', at: at(15) } }), 'silent');
    assert.equal(state({ connection: { state: 'not_known', at: null } }), 'not asked today');
  });

  test('says whether entries are taken: the user’s own wish before all', () => {
    assert.equal(entriesOf(account(), true).words, 'on');
    assert.equal(entriesOf(account({ halted: true, credentials: 'refused' }), false).words, 'halted');
    assert.equal(entriesOf(account({ credentials: 'refused' }), true).words, 'refused');
    assert.equal(entriesOf(account(), false).words, 'refused');
  });

  test('sums the open profit only where all of it is known', () => {
    assert.equal(openProfit([]), 0);
    assert.equal(
      openProfit([
        { quantity: 1, open_profit: 9.3 },
        { quantity: 0, open_profit: null },
        { quantity: -2, open_profit: -1 },
      ]),
      8.3,
    );
    assert.equal(openProfit([{ quantity: 1, open_profit: null }]), null);
  });

  test('what can be lost never stands for a position that is not in it', () => {
    const stop = (state: 'standing' | 'armed' | 'unprotected', risk: number | null) => ({
      quantity: 1,
      protection: { state, stop_loss: 64_000, unprotected_since: null } as Schemas['PositionProtection'],
      risk,
    });
    const none = { quantity: 1, protection: null, risk: null };
    const known = { instead: null, bare: 0, free: 0 };
    assert.deepEqual(riskOf([]), { ...known, lost: null, instead: 'nothing' });
    assert.deepEqual(riskOf([{ ...none, quantity: 0 }]), { ...known, lost: null, instead: 'nothing' });
    assert.deepEqual(riskOf([none]), { ...known, lost: null, instead: 'no stop' });
    assert.deepEqual(riskOf([stop('standing', 600), { ...none, quantity: 0 }]), { ...known, lost: 600 });
    assert.deepEqual(riskOf([stop('standing', 600), none]), { ...known, lost: 600, free: 1 });
    assert.deepEqual(riskOf([stop('armed', 200)]), { ...known, lost: null, instead: 'not known' });
    assert.deepEqual(riskOf([stop('standing', null), none]), {
      ...known,
      lost: null,
      instead: 'not known',
      free: 1,
    });
    assert.deepEqual(riskOf([stop('unprotected', 9)]), { ...known, lost: null, bare: 1 });
  });

  test('what is only missing is no risk', () => {
    const missing = todo('drift_missing', { trading_account_id: 'a1' });
    const account = { id: 'a1', halted: false };
    const excess = todo('drift_excess', { trading_account_id: 'a1' });
    assert.equal(driftOf([missing], account), 'act');
    assert.equal(driftOf([missing, excess], account), 'risk');
    // What is not opened there is the wish of whoever has halted it.
    const halted = { ...account, halted: true };
    assert.equal(driftOf([], halted), null);
    assert.equal(driftOf([excess], halted), 'risk');
    assert.equal(driftOf([todo('unknown_order', { trading_account_id: 'a1' })], halted), 'risk');
  });

  test('draws a stroke per moment, refused ones below the line, none outside of the day', () => {
    const day = { start: Date.parse(at(0)), end: Date.parse(at(0, 0, 13)), now: Date.parse(at(12)) };
    const signal = (hour: number, refused = false) => ({ at: at(hour), refused, simulation: false });
    const rug = rugOf([signal(6), signal(6), signal(18, true), signal(-1)], day);
    assert.equal(rug.accepted, 'M60 4v12');
    assert.equal(rug.refused, 'M180 17v6');
    assert.equal(rug.now, 120);
    assert.equal(rugOf([], { ...day, now: day.end + 1_000_000 }).now, null);
    assert.deepEqual(
      hoursOf(day.start, day.end).map(({ percent }) => percent),
      [0, 25, 50, 75, 100],
    );
  });

  test('draws the profit in steps from nothing, and nothing where nothing was filled', () => {
    assert.equal(sparkOf([]), null);
    const spark = sparkOf([
      { at: at(9), realised: 10 },
      { at: at(10), realised: 5 },
    ]);
    assert.deepEqual(spark, { curve: 'M1 18H31V2H61V10', zero: 18, end: { x: 61, y: 10 } });
    assert.equal(sparkOf([{ at: at(9), realised: 0 }])?.curve, 'M1 18H61V18');
  });
});

describe('what is held', () => {
  const position = (symbol: string, quantity: number): Schemas['Position'] => ({
    symbol,
    quantity,
    protection: null,
    risk: null,
    closed_by_protection: null,
    average_price: null,
    last_price: null,
    open_profit: 1,
    tradable: true,
    reason: null,
    strategy_position: null,
    in_sync: null,
    last_signal_at: null,
  });

  test('shows trouble first, leaves out what is flat and in order, and says how much more there is', () => {
    const positions = [
      position('FLAT', 0),
      ...Array.from({ length: 9 }, (_, place) => position(`S${place}`, 1)),
      position('GONE', 0),
      position('LOST', 2),
    ];
    const { rows, more } = heldRows(
      [{ account: account(), positions }],
      [
        todo('unknown_order', { trading_account_id: 'a1', symbol: 'LOST' }),
        todo('drift_missing', { trading_account_id: 'a1', symbol: 'GONE' }),
      ],
    );
    assert.deepEqual(
      rows.slice(0, 3).map(({ symbol, trouble }) => [symbol, trouble]),
      [
        ['LOST', 'unknown'],
        ['GONE', 'missing'],
        ['S0', null],
      ],
    );
    assert.equal(rows.length, 8);
    assert.equal(more, 3);
  });

  test('names the account where a symbol is held twice', () => {
    const { rows } = heldRows(
      [
        { account: account(), positions: [position('ES', 1), position('NQ', 1)] },
        { account: account({ id: 'a2' }), positions: [position('ES', 1)] },
      ],
      [],
    );
    assert.deepEqual(
      rows.map(({ isAmbiguous }) => isAmbiguous),
      [true, false, true],
    );
  });
});

describe('the first visit', () => {
  const paper = {
    id: 'a1',
    name: 'Paper',
    broker: 'paper',
    allowed_symbols: [],
    guards: { max_orders_per_minute: null },
    paper: { starting_cash: 100_000 },
    webhook_url: 'https://fillpath.example/webhook/T0ken/order',
  } as unknown as Schemas['Account'];
  const session = {
    terms: { current_version: '1', accepted_version: '1' },
    totp_enabled: false,
  } as Schemas['OwnSession'];
  const fresh = account({ broker_name: 'paper', real_money: false, last_signal_at: null });

  test('ends with trouble that a beginner has not', () => {
    assert.equal(hasOnlyBeginnersTrouble({ todo: [] }), true);
    assert.equal(hasOnlyBeginnersTrouble({ todo: [todo('terms_not_accepted')] }), true);
    assert.equal(hasOnlyBeginnersTrouble({ todo: [todo('credentials_refused')] }), false);
  });

  test('ticks off what is done, and shows what is next', () => {
    const states = (isMessageCopied: boolean, hasExecuted = false, accounts = [fresh]) =>
      firstSteps({
        overview: { accounts, todo: [] },
        accounts: [paper],
        session,
        hasExecuted,
        isMessageCopied,
      }).map(({ name, state }) => `${name} ${state}`);
    assert.deepEqual(states(false), [
      'terms ticked',
      'account ticked',
      'message now',
      'signal open',
      'broker open',
      'guards open',
      'second_factor open',
    ]);
    assert.equal(states(true)[3], 'signal now');
    const heard = [{ ...fresh, last_signal_at: at(15) }];
    assert.deepEqual(states(false, true, heard).slice(2, 5), [
      'message ticked',
      'signal ticked',
      'broker now',
    ]);
    assert.equal(states(false, false, heard)[3], 'signal now', 'one that was refused ticks nothing');
  });

  test('begins with nothing', () => {
    const [terms, first] = firstSteps({
      overview: { accounts: [], todo: [] },
      accounts: [],
      session: { ...session, terms: { current_version: '2', accepted_version: '1' } },
      hasExecuted: false,
      isMessageCopied: false,
    });
    assert.equal(terms?.state, 'now');
    assert.equal(first?.state, 'open');
  });

  test('has a command that a shell reads as it is meant, with the time of its sending', () => {
    const command = curlCommand(firstSignal({ ...paper, allowed_symbols: ["O'NOW"] }, "s'3$(x)", false));
    // What curl would get, from a shell that has no curl.
    const shown = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$4"; }\n${command}`], {
      encoding: 'utf8',
    });
    const sent = JSON.parse(shown);
    assert.equal(sent.symbol, "O'NOW");
    assert.equal(sent.secret, "s'3$(x)");
    assert.ok(Math.abs(Date.parse(sent.timestamp) - Date.now()) < 60_000);
  });

  test('never tries with real money', () => {
    const bought = { simulation_only: false };
    assert.equal(isRehearsal(paper, bought), false);
    assert.equal(isRehearsal(paper, { simulation_only: true }), true, 'nor with what the plan refuses');
    assert.equal(isRehearsal({ ...paper, broker: 'bybit' }, bought), true);
    assert.equal(firstSignal(paper, 's', false).url, paper.webhook_url);
    assert.equal(
      firstSignal(paper, 's', true).url,
      'https://fillpath.example/webhook/T0ken/order?simulation=true',
    );
  });

  test('has the strategy’s message with the secret in it', () => {
    assert.match(strategyMessage('s3'), /"market_position": "\{\{strategy\.market_position\}\}"/);
    assert.match(strategyMessage('s3'), /"secret": "s3" \}$/);
  });
});
