import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultText, readDefault, withDefault } from '../../web/pages/accounts/protection-defaults.ts';
import { exposureOf } from '../../web/pages/positions/exposure.ts';
import { headingOf, tallyOf } from '../../web/pages/positions/standing.ts';
import { buttonWords, type Change, removesStop, sentenceOf } from '../../web/pages/protect/sentence.ts';
import {
  type Asked,
  askedFrom,
  asksNothing,
  asStanding,
  changeOf,
  hasProblem,
  problemsOf,
  sentOf,
  timeOf,
} from '../../web/parts/protection/asked.ts';
import { levelProblem, priceOf } from '../../web/parts/protection/levels.ts';
import { percentFrom, plainMoney, shareInWords, wonAt } from '../../web/parts/protection/money.ts';
import type { Protection } from '../../web/parts/protection/shapes.ts';
import { followsInWords, moveInWords, spanInWords } from '../../web/parts/protection/words.ts';

const standing: Protection = {
  id: 'p',
  state: 'standing',
  stop_loss: 64_000,
  take_profit: [],
  trailing_stop: null,
  break_even: null,
  time_stop_at: null,
  stop_quantity: 0.4,
  seen_at: null,
  unprotected_since: null,
  reason: null,
};
const price = (text: string) => ({ text, unit: 'price' }) as const;
const LONG = { isLong: true, entry: 65_500, last: 66_120.5, tick: 0.1 };
const SHORT = { ...LONG, isLong: false };
const holding = { quantity: 0.4, average: 65_500, last: 66_120.5, contract: 1, currency: 'USDT' };

const changed = (asked: Partial<Asked>, protection: Protection | null = standing): Change => {
  const before = asStanding(protection);
  return { symbol: 'BTC', holding, ground: LONG, before, asked: { ...before, ...asked } };
};
const said = (change: Change): string =>
  sentenceOf(change)
    .words.map((part) => (typeof part === 'string' ? part : part.strong))
    .join('');

describe('the sentence of the drawer', () => {
  it('says the move, and what is at risk instead', () => {
    const tighter = changed({ stop: price('65200') });
    assert.equal(
      said(tighter),
      'Moves the stop of 0.4 BTC from 64,000 to 65,200: 120 USDT at risk instead of 600.',
    );
    assert.equal(sentenceOf(tighter).isLooser, false);
    assert.equal(buttonWords(tighter), 'Move the stop to 65,200');
  });

  it('says of a looser stop that more is at risk', () => {
    const looser = changed({ stop: price('63000') });
    assert.equal(
      said(looser),
      'Moves the stop of 0.4 BTC from 64,000 to 63,000: 1,000 USDT at risk instead of 600, more at risk than now.',
    );
    assert.equal(sentenceOf(looser).isLooser, true);
  });

  it('says of a stop beyond the entry what is won', () => {
    assert.equal(
      said(changed({ stop: price('65700') })),
      'Moves the stop of 0.4 BTC from 64,000 to 65,700: at least 80 USDT won instead of 600 at risk.',
    );
    assert.equal(
      said(changed({ stop: price('65500') })),
      'Moves the stop of 0.4 BTC from 64,000 to 65,500: nothing at risk instead of 600.',
    );
  });

  it('sets a first stop, and takes a distance', () => {
    const first = changed({ stop: { text: '2', unit: 'percent' } }, null);
    assert.equal(said(first), 'Sets the stop of 0.4 BTC at 64,190: 524 USDT at risk.');
    assert.equal(buttonWords(first), 'Set the stop at 64,190');
    assert.equal(said(changed({}, null)), '0.4 BTC: no stop. What it can lose is not limited.');
  });

  it('says what a removal means', () => {
    const bare = changed({ stop: price('') });
    assert.match(said(bare), /^Removes the stop of 0\.4 BTC at 64,000: what it can lose is not limited/);
    assert.equal(removesStop(bare), true);
    assert.equal(buttonWords(bare), 'Remove the stop');
  });

  it('names targets, and what follows the price', () => {
    const targets = [
      { at: price('67000'), percent: '50' },
      { at: price('69000'), percent: '50' },
    ];
    const more = changed({ targets, breakEven: { when: 'tp1', at: price('') } });
    assert.equal(
      said(more),
      'Takes profit: half at 67,000, half at 69,000. At target 1 the stop goes to the entry.',
    );
    assert.equal(buttonWords(changed({ targets })), 'Set 2 targets');
    assert.equal(said(changed({})), 'The stop of 0.4 BTC is at 64,000: 600 USDT at risk.');
    assert.equal(buttonWords(changed({})), null);
  });
});

describe('what is sent', () => {
  it('is only what was changed, and what was emptied is removed', () => {
    const before = asStanding({ ...standing, break_even: { at: 'tp1', to: 65_500 } });
    assert.deepEqual(changeOf({ ...before, stop: price('65200') }, before), { stop_loss: 65_200 });
    assert.deepEqual(changeOf(before, before), {});
    assert.deepEqual(changeOf({ ...before, stop: price('') }, before), {
      stop_loss: 'none',
      break_even: 'none',
    });
  });

  it('has a unit where it is a distance, and one level alone where it is for all', () => {
    const asked: Asked = {
      ...asksNothing(),
      stop: { text: '2', unit: 'percent' },
      targets: [{ at: { text: '20', unit: 'ticks' }, percent: '100' }],
      trail: { text: '150', unit: 'points' },
      time: '90 min',
    };
    const sent = { stop_loss: '2%', take_profit: '20t', trailing_stop: '150p', time_stop: 5_400 };
    assert.deepEqual(sentOf(asked), sent);
    assert.deepEqual(sentOf(askedFrom(sent)), sent, 'and is read again as it stands');
    assert.deepEqual(sentOf(asksNothing()), {});
  });

  it('reads a time of day on the clock of who types it', () => {
    assert.equal(timeOf('15:55 America/New_York'), '15:55 America/New_York');
    assert.match(String(timeOf('9:05')), /^09:05 \S+$/);
    assert.equal(timeOf('2 h'), 7_200);
    assert.equal(timeOf('30 s'), null);
    assert.equal(timeOf('soon'), null);
  });
});

describe('a level beside its field', () => {
  it('is refused on the wrong side of the market', () => {
    assert.equal(
      levelProblem(price('66200'), 'stop', LONG),
      'The stop of a long position lies below the last price, 66,120.5.',
    );
    assert.equal(
      levelProblem(price('65000'), 'stop', SHORT),
      'The stop of a short position lies above the last price, 66,120.5.',
    );
    assert.equal(
      levelProblem(price('66000'), 'target', LONG),
      'The target of a long position lies above the last price, 66,120.5.',
    );
    assert.equal(levelProblem(price('65000'), 'stop', LONG), null);
  });

  it('is refused where it is no number', () => {
    assert.match(levelProblem(price('65,000'), 'stop', LONG) ?? '', /without commas/);
    assert.match(levelProblem(price('-1'), 'stop', LONG) ?? '', /above zero/);
    assert.equal(
      levelProblem({ text: '120', unit: 'percent' }, 'stop', LONG),
      'There is no price above zero so far away.',
    );
  });

  it('stands on the tick, towards the entry', () => {
    assert.equal(priceOf({ text: '1', unit: 'percent' }, 'stop', { ...LONG, tick: 1 }), 64_845);
    assert.equal(priceOf({ text: '3', unit: 'ticks' }, 'target', LONG), 65_500.3);
    assert.equal(priceOf({ text: '3', unit: 'points' }, 'stop', SHORT), 65_503);
  });

  it('needs what it builds upon', () => {
    const even: Asked = { ...asksNothing('price'), breakEven: { when: 'tp1', at: price('') } };
    assert.match(problemsOf(even, LONG).breakEven ?? '', /no stop/);
    assert.match(problemsOf({ ...even, stop: price('64000') }, LONG).breakEven ?? '', /no target/);
    const over: Asked = {
      ...asksNothing('price'),
      targets: ['67000', '69000'].map((text) => ({ at: price(text), percent: '60' })),
    };
    assert.equal(problemsOf(over, LONG).shares, 'The shares are 120 % in all: 100 at most.');
    assert.equal(hasProblem(problemsOf(over, LONG)), true);
    assert.equal(hasProblem(problemsOf(asksNothing(), LONG)), false);
  });
});

describe('money and distance', () => {
  it('count from the average price and from the last one', () => {
    assert.equal(wonAt(holding, 64_000), -600);
    assert.equal(wonAt({ ...holding, quantity: -0.4 }, 64_000), 600);
    assert.equal(wonAt(holding, 67_000, 0.2), 300);
    assert.equal(wonAt({ ...holding, contract: null }, 64_000), null);
    assert.equal(percentFrom(64_000, 66_120.5), '\u22123.2 %');
    assert.equal(percentFrom(66_140, 66_120.5), '+0.03 %');
    assert.equal(plainMoney(600), '600');
    assert.equal(plainMoney(-120.5), '120.50');
    assert.deepEqual([100, 50, 25].map(shareInWords), ['all', 'half', '25 %']);
  });

  it('at risk is added of what has a stop, and never of what has none', () => {
    const bare = { protection: { ...standing, state: 'unprotected' as const }, risk: 116 };
    const exposure = exposureOf([
      { protection: standing, risk: 600 },
      { protection: standing, risk: -80 },
      bare,
      { protection: null, risk: null },
    ]);
    assert.deepEqual(exposure, { stops: 3, standing: 2, unprotected: 1, risk: 600 });
    assert.equal(exposureOf([{ protection: standing, risk: null }]).risk, null, 'a part of a sum is none');
    assert.equal(exposureOf([bare]).risk, null, 'what has no stop is not said to risk nothing');
    const armed = { protection: { ...standing, state: 'armed' as const }, risk: 200 };
    assert.equal(
      exposureOf([armed, { protection: standing, risk: 600 }]).risk,
      600,
      'nobody has seen it yet',
    );
  });

  it('a position without its stop leads the heading, in red', () => {
    const held = { symbol: 'SOL', quantity: 40, strategy_position: 40, in_sync: true };
    const tally = tallyOf([held, { ...held, protection: { ...standing, state: 'unprotected' } }]);
    const { lead, rest, trouble } = headingOf(tally);
    assert.equal(`${lead}${rest}${trouble}`, '2 positions: 2 as the strategies say, 1 without its stop');
    assert.equal(tally.tone, 'risk');
  });
});

describe('a protection in words', () => {
  it('tells its moves', () => {
    const at = '2026-11-17T14:31:02.610Z';
    const line = (what: string, from: number | null, to: number | null, by: string | null = null) =>
      moveInWords({ at, what, from, to, by });
    assert.equal(line('set', null, 64_000), 'set at 64,000');
    assert.equal(line('set', 64_000, null), 'stop at 64,000 removed');
    assert.equal(line('moved', 64_000, 65_200, 'trailing_stop'), 'moved from 64,000 to 65,200, trailing');
    assert.equal(line('standing', null, 64_000), 'seen to stand at 64,000');
    assert.equal(line('restored', null, 64_000), 'put back by us at 64,000');
    assert.equal(line('stop_loss', null, 63_990), 'closed at 63,990: its stop was hit');
    assert.equal(
      line('refused', null, 64_000, 'too many orders'),
      'the broker refused it at 64,000: too many orders',
    );
  });

  it('says what follows the price by itself, and for how long there is no stop', () => {
    assert.deepEqual(
      followsInWords({
        ...standing,
        trailing_stop: { distance: 40, activate_at: null, best: 66_000 },
        break_even: { at: 'tp1', to: 65_500 },
      }),
      ['trails by 40', 'to 65,500 at target 1'],
    );
    assert.deepEqual([12_400, 200_000, 7_260_000].map(spanInWords), ['12 s', '3 min 20 s', '2 h 1 min']);
  });
});

describe('an account’s defaults', () => {
  it('are typed as distances, and never as prices', () => {
    assert.deepEqual(readDefault('stop_loss', '2%'), { value: '2%' });
    assert.ok('problem' in readDefault('stop_loss', '64000'));
    assert.deepEqual(readDefault('take_profit', '50 at 2%, 50 at 4%'), {
      value: [
        { at: '2%', percent: 50 },
        { at: '4%', percent: 50 },
      ],
    });
    assert.deepEqual(readDefault('break_even', 'tp1'), { value: 'tp1' });
    assert.deepEqual(readDefault('stop_loss', ''), { value: null });
  });

  it('stand in their fields as they were typed', () => {
    const kept = [
      { at: '2%', percent: '50' },
      { at: '4%', percent: '50' },
    ];
    assert.equal(defaultText('take_profit', kept), '50 at 2%, 50 at 4%');
    assert.equal(defaultText('take_profit', [{ at: '4%', percent: '100' }]), '4%');
    assert.equal(defaultText('trailing_stop', { distance: '1%' }), '1%');
    assert.equal(defaultText('stop_loss', undefined), '');
  });

  it('change one by one, and the last one taken away leaves none', () => {
    const defaults = { '*': { stop_loss: '2%' }, AAPL: { stop_loss: '5%' } };
    assert.deepEqual(withDefault(defaults, '*', { take_profit: '4%' }), {
      AAPL: { stop_loss: '5%' },
      '*': { stop_loss: '2%', take_profit: '4%' },
    });
    assert.deepEqual(withDefault(defaults, '*', { stop_loss: null }), { AAPL: { stop_loss: '5%' } });
    assert.equal(withDefault({ '*': { stop_loss: '2%' } }, '*', { stop_loss: null }), null);
  });
});
