import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answered, type Keep, leavesOpen, press, unanswered } from '../../web/pages/trade/intent.ts';
import { offered } from '../../web/pages/trade/offered.ts';
import {
  AT_MARKET,
  kindsFor,
  type Pricing,
  pricingOf,
  pricingProblems,
  timesFor,
} from '../../web/pages/trade/pricing.ts';
import {
  buttonWords,
  countable,
  driftWarning,
  type Fields,
  fieldsOf,
  quantityProblem,
  sendsSomething,
  type Wish,
  wishInWords,
  wishOf,
  worthInWords,
} from '../../web/pages/trade/wish.ts';
import { readQuantity } from '../../web/parts/exact.ts';
import { asksNothing } from '../../web/parts/protection/asked.ts';

const fields: Fields = {
  accountId: 'a',
  symbol: ' BTCUSDT.P ',
  side: 'sell',
  quantity: '1.50',
  counts: 'units',
  kind: 'entry',
  simulation: false,
  pricing: AT_MARKET,
  protection: asksNothing(),
};
const wish = wishOf(fields) as Wish;
const leg = (name: 'exit' | 'entry', side: 'buy' | 'sell', quantity: number) => ({
  leg: name,
  side,
  quantity,
});
const plan = (
  legs: readonly ReturnType<typeof leg>[],
  guards: { guard: string; outcome: 'passed' | 'refused'; reason: string }[] = [],
) => ({ legs: [...legs], text: '', protection: [], guards, error: null });
const REFUSED = [{ guard: 'max_position', outcome: 'refused' as const, reason: '' }];

describe('the order that the fields make', () => {
  it('is not there until they are complete', () => {
    assert.equal(wishOf({ ...fields, quantity: '' }), null);
    assert.equal(wishOf({ ...fields, quantity: '0' }), null);
    assert.equal(wishOf({ ...fields, symbol: ' ' }), null);
    assert.equal(wishOf({ ...fields, accountId: '' }), null);
  });

  it('has an exact quantity, and a close has none', () => {
    assert.deepEqual(wish, {
      trading_account_id: 'a',
      symbol: 'BTCUSDT.P',
      simulation: false,
      action: 'sell',
      quantity: 1.5,
      order_type: 'entry',
    });
    assert.deepEqual(wishOf({ ...fields, kind: 'close', quantity: 'nonsense' }), {
      trading_account_id: 'a',
      symbol: 'BTCUSDT.P',
      simulation: false,
      action: 'close',
    });
  });

  it('says what its quantity counts, where that is no units and goes with such an order', () => {
    const counting = (counts: Fields['counts'], kind: Fields['kind'] = 'entry') =>
      wishOf({ ...fields, counts, kind })?.quantity_type;
    assert.equal(counting('units'), undefined);
    assert.equal(counting('cash'), 'cash');
    assert.equal(counting('risk_percent'), 'risk_percent');
    assert.equal(counting('percent_of_position', 'exit'), 'percent_of_position');
    assert.equal(counting('percent_of_position'), undefined);
    assert.equal(counting('risk_cash', 'exit'), undefined);
    assert.equal(counting('cash', 'close'), undefined);
    assert.deepEqual(countable('exit'), ['units', 'cash', 'percent_of_equity', 'percent_of_position']);
    const cash = wishOf({ ...fields, quantity: '500', counts: 'cash' }) as Wish;
    assert.equal(wishInWords(cash), 'sell 500 in money of BTCUSDT.P');
    assert.deepEqual(wishOf(fieldsOf(cash)), cash);
  });

  it('is never of a number that a double would round', () => {
    assert.equal(readQuantity('123456789.123456'), 123456789.123456);
    assert.equal(readQuantity('123456789.1234567'), null);
    assert.equal(readQuantity('.5'), 0.5);
    for (const text of ['1e3', '-1', '+1', '1,5', '1 000', '0x10', 'Infinity', '\u0661'])
      assert.equal(readQuantity(text), null, text);
  });
});

describe('the price that an entry waits for', () => {
  const limit: Pricing = { ...AT_MARKET, kind: 'limit', limit: '64200.5' };
  const sent = (pricing: Pricing) => wishOf({ ...fields, pricing });

  it('is sent with the entry, and only what is not the usual', () => {
    assert.deepEqual(sent(limit), { ...wish, limit_price: 64_200.5 });
    const all: Pricing = {
      ...{ kind: 'stop limit', limit: '61100', stop: '61000', inForce: 'day', lasts: '90', unit: 'minutes' },
      name: ' Long dip ',
    };
    assert.deepEqual(sent(all), {
      ...wish,
      limit_price: 61_100,
      stop_price: 61_000,
      time_in_force: 'day',
      expires_in: 5_400,
      id: 'Long dip',
    });
    assert.deepEqual(sent({ ...limit, lasts: '1', unit: 'days' }), sent(limit), 'a day is the usual');
    // What is over at once does not expire.
    assert.deepEqual(sent({ ...limit, inForce: 'ioc', lasts: '5' }), {
      ...wish,
      limit_price: 64_200.5,
      time_in_force: 'ioc',
    });
  });

  it('is of an entry alone', () => {
    assert.deepEqual(wishOf({ ...fields, kind: 'exit', pricing: limit }), { ...wish, order_type: 'exit' });
  });

  it('makes no order while it is missing or wrong', () => {
    assert.equal(sent({ ...limit, limit: '' }), null);
    assert.equal(sent({ ...limit, limit: '-1' }), null);
    assert.equal(sent({ ...limit, kind: 'stop limit' }), null, 'the stop is missing');
    for (const lasts of ['0', 'soon', '31', '0.0001']) assert.equal(sent({ ...limit, lasts }), null, lasts);
    assert.match(pricingProblems({ ...limit, limit: '64,200' }, null).limit ?? '', /decimal point/);
    assert.equal(pricingProblems(limit, 0.25).limit, null);
    assert.equal(pricingProblems(limit, 1).limit, 'In steps of 1.');
  });

  it('comes back into the fields as it was sent', () => {
    for (const pricing of [
      limit,
      { ...limit, lasts: '90', unit: 'minutes', name: 'a' } as const,
      { ...limit, kind: 'stop', limit: '', stop: '61000', lasts: '2', unit: 'hours' } as const,
    ]) {
      const made = sent(pricing) as Wish;
      assert.deepEqual(wishOf(fieldsOf(made)), made);
      assert.deepEqual(pricingOf(made), pricing);
    }
  });

  it('is said on the button', () => {
    const entry = plan([leg('entry', 'sell', 1.5)]);
    assert.equal(buttonWords(sent(limit) as Wish, entry), 'Sell 1.5 BTCUSDT.P at 64,200.5 or better');
    assert.equal(
      wishInWords(sent({ ...limit, kind: 'stop', stop: '61000' }) as Wish),
      'sell 1.5 BTCUSDT.P at the market once 61,000 is reached',
    );
  });

  it('is offered as far as the broker takes it', () => {
    assert.deepEqual(kindsFor({ stop_entries: true, time_in_force: [] }), ['market']);
    assert.deepEqual(kindsFor({ stop_entries: false, time_in_force: ['gtc'] }), ['market', 'limit']);
    const stop: Pricing = { ...limit, kind: 'stop' };
    const able = { stop_entries: true, time_in_force: ['gtc', 'ioc', 'fok'] as const };
    assert.deepEqual(timesFor(limit, able), ['gtc', 'ioc', 'fok']);
    assert.deepEqual(timesFor(stop, able), ['gtc']);
  });
});

describe('a quantity as typed', () => {
  const instrument = { symbol: 'X', quantity_step: 0.001, min_quantity: 0.002, contract_size: 10 };

  it('is held against the step and the minimum', () => {
    assert.equal(quantityProblem('', instrument), null);
    assert.equal(quantityProblem('0.003', instrument), null);
    assert.equal(quantityProblem('0.0035', instrument), 'In steps of 0.001.');
    assert.equal(quantityProblem('0.001', instrument), 'At least 0.002.');
    assert.match(quantityProblem('0,5', null) ?? '', /decimal point/);
    assert.match(quantityProblem('much', null) ?? '', /15 digits/);
  });

  it('is held against neither where it counts something else, and a part is at most all', () => {
    assert.equal(quantityProblem('0.0035', instrument, 'cash'), null);
    assert.equal(quantityProblem('100', instrument, 'percent_of_position'), null);
    assert.equal(quantityProblem('100.5', instrument, 'percent_of_position'), 'At most 100.');
    assert.match(quantityProblem('0,5', instrument, 'cash') ?? '', /decimal point/);
  });

  it('is worth something only where the price and the contract are known', () => {
    assert.equal(worthInWords(2, instrument, 6841.25, 'USD'), 'about 136,825 USD');
    assert.equal(worthInWords(2, instrument, null, 'USD'), null);
    assert.equal(worthInWords(2, null, 5, 'USD'), null);
  });
});

describe('the button', () => {
  it('says the order', () => {
    assert.equal(buttonWords(wish, plan([leg('entry', 'sell', 1.5)])), 'Sell 1.5 BTCUSDT.P');
    assert.equal(
      buttonWords(wish, plan([leg('exit', 'sell', 3), leg('entry', 'sell', 1.5)])),
      'Close long 3, then sell 1.5 BTCUSDT.P',
    );
    assert.equal(
      buttonWords({ ...wish, action: 'close' }, plan([leg('exit', 'buy', 0.2)])),
      'Close short 0.2 BTCUSDT.P',
    );
    assert.equal(
      buttonWords({ ...wish, order_type: 'exit' }, plan([leg('exit', 'sell', 1)])),
      'Sell 1 BTCUSDT.P of the long',
    );
  });

  it('says that it is simulated', () => {
    assert.match(
      buttonWords({ ...wish, simulation: true }, plan([leg('entry', 'sell', 1.5)])),
      /, simulated$/,
    );
  });

  it('offers nothing where nothing would be sent', () => {
    assert.equal(sendsSomething(plan([])), false);
    assert.equal(buttonWords(wish, plan([])), 'Nothing to send');
    assert.equal(sendsSomething(plan([leg('entry', 'sell', 1.5)], REFUSED)), false);
    assert.equal(buttonWords(wish, plan([leg('entry', 'sell', 1.5)], REFUSED)), 'A guard refuses this entry');
  });

  it('says that a reversal whose entry a guard refuses closes all the same', () => {
    const reversal = plan([leg('exit', 'sell', 3), leg('entry', 'sell', 1.5)], REFUSED);
    assert.equal(buttonWords(wish, reversal), 'Close long 3 BTCUSDT.P, without the entry');
  });
});

describe('the warning of drift', () => {
  const legs = [leg('exit', 'buy', 0.2), leg('entry', 'buy', 0.1)];

  it('says by how much the broker will differ from the strategy', () => {
    assert.match(
      driftWarning({ quantity: -0.2, strategy_position: -0.2 }, plan(legs)) ?? '',
      /^The strategy stands short 0\.2\. After this it and the broker differ by 0\.3,/,
    );
  });

  it('is silent where the order brings them together, or no strategy speaks', () => {
    assert.equal(driftWarning({ quantity: -0.2, strategy_position: 0.1 }, plan(legs)), null);
    assert.equal(driftWarning({ quantity: -0.2, strategy_position: null }, plan(legs)), null);
    assert.equal(driftWarning(null, plan(legs)), null);
  });
});

describe('one intent, one order', () => {
  const memory = (): Keep & { readonly kept: Map<string, string> } => {
    const kept = new Map<string, string>();
    return {
      kept,
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, text) => void kept.set(name, text),
      removeItem: (name) => void kept.delete(name),
    };
  };

  it('keeps its key until an answer came', () => {
    const keep = memory();
    assert.equal(press(keep, wish, { userId: 'u', now: 1000, newKey: 'first' }).key, 'first');
    assert.equal(press(keep, wish, { userId: 'u', now: 2000, newKey: 'second' }).key, 'first');
    answered(keep);
    assert.equal(press(keep, wish, { userId: 'u', now: 3000, newKey: 'third' }).key, 'third');
  });

  it('has another key for another order', () => {
    const keep = memory();
    press(keep, wish, { userId: 'u', now: 1000, newKey: 'first' });
    const other = { ...wish, quantity: 2 };
    assert.equal(press(keep, other, { userId: 'u', now: 1000, newKey: 'second' }).key, 'second');
  });

  it('is not meant by a press of much later', () => {
    const keep = memory();
    press(keep, wish, { userId: 'u', now: 0, newKey: 'first' });
    assert.equal(unanswered(keep, { userId: 'u', now: 599_000 })?.key, 'first');
    assert.equal(unanswered(keep, { userId: 'u', now: 601_000 }), null);
    assert.equal(press(keep, wish, { userId: 'u', now: 601_000, newKey: 'second' }).key, 'second');
  });

  it('is of the user who pressed, and of nobody who logs in after that', () => {
    const keep = memory();
    press(keep, wish, { userId: 'u', now: 1000, newKey: 'first' });
    assert.equal(unanswered(keep, { userId: 'other', now: 2000 }), null);
    assert.equal(press(keep, wish, { userId: 'other', now: 2000, newKey: 'second' }).key, 'second');
  });

  it('survives what others wrote in its place', () => {
    const keep = memory();
    keep.setItem('fillpath.unanswered-order', 'not json');
    assert.equal(unanswered(keep, { userId: 'u', now: 0 }), null);
  });

  it('stays open where no answer came, where the fault is ours, and while it is under way', () => {
    assert.equal(leavesOpen({ status: 0, code: 'unreachable' }), true);
    assert.equal(leavesOpen({ status: 503, code: 'outcome_unknown' }), true);
    assert.equal(leavesOpen({ status: 409, code: 'idempotency_in_progress' }), true);
    assert.equal(leavesOpen({ status: 409, code: 'idempotency_conflict' }), false);
    assert.equal(leavesOpen({ status: 403, code: 'account_halted' }), false);
  });
});

describe('The symbols offered while somebody types', () => {
  const named = (symbol: string, description = '') => ({ symbol, description });
  const before = [named('AAPL', 'Apple'), named('BTCUSDT.P', 'Bitcoin perpetual'), named('ETHUSDT.P')];

  it('are the broker’s answer, as it ranked them, once it has been asked for just that', () => {
    assert.deepEqual(offered(before, 'x', 'x'), before);
  });

  it('are first what the account holds or has traded, also where the broker’s first page has none of it', () => {
    const answer = [named('BANANAUSDT'), named('BTCUSDT'), named('BNBUSDT')];
    assert.deepEqual(
      offered(answer, 'b', 'b', ['BTCUSDT', 'BZUSDT', 'ETHUSDT']).map(({ symbol }) => symbol),
      ['BTCUSDT', 'BZUSDT', 'BANANAUSDT', 'BNBUSDT'],
    );
    const many = Array.from({ length: 12 }, (_, index) => named(`B${index}USDT`));
    assert.equal(offered(many, 'b', 'b').length, 8);
  });

  it('are never one of an older answer without the letters in the field: Enter would trade it', () => {
    assert.deepEqual(
      offered(before, 'btc', '').map(({ symbol }) => symbol),
      ['BTCUSDT.P'],
    );
    assert.deepEqual(
      offered(before, 'apple', '').map(({ symbol }) => symbol),
      ['AAPL'],
    );
    assert.deepEqual(offered(before, 'zzz', ''), []);
    const pairs = [named('BTCUSDT', 'Bitcoin / Tether'), named('ETHUSDT', 'Ether / Tether')];
    assert.deepEqual(
      offered(pairs, 'eth', 'e').map(({ symbol }) => symbol),
      ['ETHUSDT'],
      'and Tether is not Ether',
    );
    assert.deepEqual(offered(pairs, 'usd', 'u'), []);
  });
});
