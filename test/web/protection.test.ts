import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
import { exposureOf } from '../../web/parts/protection/exposure.ts';
import { levelProblem, priceOf } from '../../web/parts/protection/levels.ts';
import { percentFrom, plainMoney, shareInWords, wonAt } from '../../web/parts/protection/money.ts';
import type { Protection } from '../../web/parts/protection/shapes.ts';
import {
  followsInWords,
  gathered,
  keptInWords,
  moveInWords,
  spanInWords,
} from '../../web/parts/protection/words.ts';

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
const NOW = new Date(2026, 10, 17, 16, 0);
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

  it('says of a stop that is taken away from a trail where the trail has it', () => {
    const trails = { ...standing, trailing_stop: { distance: 500, activate_at: null, best: 66_200 } };
    const before = asStanding({ ...trails, stop_loss: 65_800 }, LONG);
    const asked = { ...before, stop: { text: '', unit: 'price' } } as const;
    const taken = { symbol: 'BTC', holding, ground: LONG, before, asked };
    assert.deepEqual(changeOf(asked, before), { stop_loss: 'none' });
    assert.equal(buttonWords(taken), 'Move the stop to 65,700');
    assert.equal(removesStop(taken), false);
  });

  it('says of a stop beyond the entry what is won', () => {
    assert.equal(
      said(changed({ stop: price('65700') })),
      'Moves the stop of 0.4 BTC from 64,000 to 65,700: 80 USDT won instead of 600 at risk.',
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
    assert.match(
      said(bare),
      /^Removes the stop of 0\.4 BTC at 64,000: what it can lose is no longer limited/,
    );
    assert.equal(removesStop(bare), true);
    assert.equal(buttonWords(bare), 'Remove the stop');
  });

  it('does not say of a stop that is missing that it stands, or is moved', () => {
    const gone = { ...standing, state: 'unprotected' as const };
    const missing = (asked: Partial<Asked>) => ({ ...changed(asked, gone), isMissing: true });
    assert.equal(
      said(missing({})),
      'The stop of 0.4 BTC is wanted at 64,000, and does not stand. What it can lose is not limited.',
    );
    const another = missing({ stop: price('63000') });
    assert.equal(said(another), 'Tries the stop of 0.4 BTC at 63,000, not at 64,000: 1,000 USDT at risk.');
    assert.equal(sentenceOf(another).isLooser, false);
    assert.equal(buttonWords(another), 'Set the stop at 63,000');
  });

  it('says from where on a stop trails, how far beyond the entry it goes, and that no clock closes any more', () => {
    const trailing = changed({ trail: { text: '40', unit: 'points' }, trailFrom: price('66500') });
    assert.equal(said(trailing), 'The stop trails by 40 points, once the price was at 66,500.');
    const even = { when: 'price', at: price('66200'), offset: '2' } as const;
    assert.equal(
      said(changed({ breakEven: even })),
      'Once the price was at 66,200, the stop goes to 65,500.2, beyond the entry.',
    );
    const untimed = changed({ time: 'none' });
    assert.equal(said(untimed), 'It is no longer closed by the clock.');
    assert.equal(buttonWords(untimed), 'Remove the close by the clock');
  });

  it('names targets, and what follows the price', () => {
    const targets = [
      { at: price('67000'), percent: '50' },
      { at: price('69000'), percent: '50' },
    ];
    const more = changed({ targets, breakEven: { when: 'tp1', at: price(''), offset: '' } });
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

  it('has where a trail begins, how far beyond the entry a stop goes, and what is declined', () => {
    const sent = {
      stop_loss: 'none',
      take_profit: 'none',
      trailing_stop: { distance: '1%', activate_at: '2%' },
      break_even: { at: 'tp1', offset: '2t' },
      time_stop: 'none',
    };
    const asked = askedFrom(sent);
    assert.deepEqual(sentOf(asked), sent);
    assert.equal(hasProblem(problemsOf({ ...asked, breakEven: asksNothing().breakEven }, LONG)), false);
    assert.deepEqual(sentOf(askedFrom({ trailing_stop: 'none', break_even: 'none' })), {
      trailing_stop: 'none',
      break_even: 'none',
    });
  });

  it('keeps, where another part is changed, how far beyond the entry a stop goes', () => {
    const before = asStanding({ ...standing, break_even: { at: 'tp1', to: 65_502 } }, LONG);
    const at = { ...before.breakEven, when: 'price' as const, at: price('66500') };
    assert.deepEqual(changeOf({ ...before, breakEven: at }, before), {
      break_even: { at: 66_500, offset: '2p' },
    });
    const atEntry = asStanding(
      { ...standing, break_even: { at: 'tp1', to: 65_500 } },
      {
        ...LONG,
        entry: 65_499.95,
      },
    );
    assert.equal(atEntry.breakEven.offset, '', 'less than a tick is the rounding');
  });

  it('removes a close by the clock, and asks for no removal of what is not there', () => {
    const before = asStanding({ ...standing, time_stop_at: '2026-11-17T20:55:00.000Z' });
    assert.deepEqual(changeOf({ ...before, time: 'none' }, before), { time_stop: 'none' });
    assert.deepEqual(changeOf({ ...before, trail: { text: 'none', unit: 'points' } }, before), {});
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
    const even: Asked = { ...asksNothing('price'), breakEven: { when: 'tp1', at: price(''), offset: '' } };
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
    const away = { ...standing, state: 'unwatched' as const };
    assert.equal(exposureOf([{ protection: away, risk: 600 }]).risk, 600, 'it stands, and nobody looks');
    const lost = { ...away, unprotected_since: '2026-11-17T14:31:02.610Z' };
    assert.deepEqual(exposureOf([{ protection: lost, risk: 600 }]), {
      stops: 1,
      standing: 0,
      unprotected: 1,
      risk: null,
    });
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
    const ORDER = '01a1e938-8b75-76d9-8cf7-21b58ec829ca';
    const line = (what: string, from: number | null, to: number | null, by: string | null = null) =>
      moveInWords({ at, what, from, to, by });
    assert.equal(line('set', null, 64_000), 'set at 64,000');
    assert.equal(line('set', 64_000, null), 'stop at 64,000 removed');
    assert.equal(line('moved', 64_000, 65_200, 'trailing_stop'), 'moved from 64,000 to 65,200, trailing');
    assert.equal(line('standing', null, 64_000), 'seen to stand at 64,000');
    assert.equal(line('restored', null, 64_000), 'put back by us at 64,000');
    assert.equal(line('stop_loss', null, 63_990, ORDER), 'closed at 63,990: its stop was hit');
    assert.equal(
      line('unprotected', null, 64_000),
      'unprotected: wanted at 64,000, and it does not stand',
      'a state is no close',
    );
    assert.equal(
      line('refused', null, 64_000, 'too many orders'),
      'the broker refused it at 64,000: too many orders',
    );
  });

  it('says what was last done to it, and a refusal that comes again once', () => {
    const at = new Date(2026, 10, 17, 15, 44).toISOString();
    const line = (what: string, by: string | null = null) => ({ at, what, from: null, to: 64_000, by });
    const kept = (history: Parameters<typeof gathered>[0], isEven = false) =>
      keptInWords(
        { ...standing, trailing_stop: isEven ? null : { distance: 40, activate_at: null, best: 66_000 } },
        { isEven, history, now: NOW },
      );
    assert.deepEqual(kept([line('set'), line('moved', 'trailing_stop')]), ['trails by 40, moved 15:44']);
    assert.deepEqual(kept([line('moved', 'break_even')], true), ['at break even since 15:44']);
    assert.deepEqual(kept([line('restored'), line('standing')]), ['trails by 40', 'put back by us 15:44']);
    assert.deepEqual(kept([line('restored'), line('set')]), ['trails by 40'], 'somebody set it since');
    const refused = line('refused', 'too many');
    assert.deepEqual(gathered([line('set'), refused, refused, refused]).map(moveInWords), [
      'set at 64,000',
      'the broker refused it 3 times at 64,000: too many',
    ]);
  });

  it('says what follows the price by itself, and for how long there is no stop', () => {
    assert.deepEqual(
      followsInWords(
        {
          ...standing,
          trailing_stop: { distance: 40, activate_at: null, best: 66_000 },
          break_even: { at: 'tp1', to: 65_500 },
        },
        NOW,
      ),
      ['trails by 40', 'to 65,500 at target 1'],
    );
    assert.deepEqual([12_400, 200_000, 7_260_000].map(spanInWords), ['12 s', '3 min 20 s', '2 h 1 min']);
  });
});
