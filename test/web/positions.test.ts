import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openGate } from '../../web/api/gate.ts';
import {
  averageInWords,
  differenceInWords,
  headingOf,
  tallyOf,
  toneOf,
} from '../../web/pages/positions/standing.ts';
import {
  alignOrder,
  isFresh,
  mayBeInWords,
  type Position,
  positionNow,
  reasonInWords,
  standingOf,
} from '../../web/parts/standing.ts';
import { sumsByCurrency } from '../../web/parts/sums.ts';

const held = (quantity: number, strategy: number | null, symbol = 'SOLUSDT.P'): Position => ({
  symbol,
  quantity,
  strategy_position: strategy,
  in_sync: strategy === null ? null : quantity === strategy,
});
const saidOf = (position: Position) => {
  const standing = standingOf(position);
  return [differenceInWords(standing), toneOf(standing)];
};

describe('a position beside its strategy', () => {
  it('is in sync without a word', () => {
    assert.deepEqual(saidOf(held(0.2, 0.2)), ['', 'usual']);
    assert.deepEqual(saidOf(held(0, 0)), ['', 'usual']);
  });

  it('is red where the broker holds too much, long or short', () => {
    assert.deepEqual(saidOf(held(40, 0)), ['+40 too much', 'risk']);
    assert.deepEqual(saidOf(held(-3, -2)), ['+1 too much', 'risk']);
  });

  it('is amber where an entry is missing, long or short', () => {
    assert.deepEqual(saidOf(held(1, 1.5)), ['\u22120.5 missing', 'act']);
    assert.deepEqual(saidOf(held(0, -2)), ['\u22122 missing', 'act']);
  });

  it('is red where the broker holds the opposite', () => {
    assert.deepEqual(saidOf(held(2, -1)), ['3 on the wrong side', 'risk']);
  });

  it('says nothing where no strategy has said anything', () => {
    assert.deepEqual(saidOf(held(2, null)), ['', null]);
    assert.equal(alignOrder(held(2, null)), null);
  });

  it('differs by exactly what the decimals say', () => {
    assert.equal(differenceInWords(standingOf(held(0.3, 0.1))), '+0.2 too much');
  });

  it('of a continuous month is as it was last compared: what is held stands under the month', () => {
    const continuous = { ...held(0, -1, 'TXF1!'), in_sync: true };
    assert.deepEqual(saidOf(continuous), ['', 'usual']);
    assert.deepEqual(saidOf({ ...continuous, in_sync: false }), ['differs', 'risk']);
    assert.equal(alignOrder({ ...continuous, in_sync: false })?.button, 'Align TXF1! to short 1');
  });
});

describe('an average price', () => {
  it('that never ends is shown a little finer than the prices are', () => {
    assert.equal(averageInWords(3572.053333333333, 3571.9), '3,572.053');
    assert.equal(averageInWords(142.8, 142.63), '142.8');
    assert.equal(averageInWords(0.1, null), '0.1');
  });
});

describe('an Align', () => {
  it('states the order it would send', () => {
    assert.deepEqual(alignOrder(held(40, 0)), {
      button: 'Sell 40 SOLUSDT.P to align',
      says: 'Aligning sells 40 at market, and ends flat.',
    });
    assert.equal(alignOrder(held(1, 1.5))?.button, 'Buy 0.5 SOLUSDT.P to align');
    assert.equal(
      alignOrder(held(0.1, 0.3))?.button,
      'Buy 0.2 SOLUSDT.P to align',
      'no dust of binary fractions',
    );
    assert.equal(alignOrder(held(-3, -2))?.says, 'Aligning buys 1 at market, and ends short 2.');
  });

  it('names both steps where the broker holds the opposite', () => {
    assert.deepEqual(alignOrder(held(2, -1)), {
      button: 'Sell 3 SOLUSDT.P to align',
      says: 'Aligning closes long 2, waits for the fill, then sells 1 at market, and ends short 1.',
    });
  });

  it('is offered only where something differs', () => {
    assert.equal(alignOrder(held(1, 1)), null);
    assert.equal(reasonInWords(held(1, 1)), '');
  });

  it('names no order while the position is read again, or was read long ago', () => {
    const read = { isReading: false, readAt: 100_000 };
    assert.equal(isFresh(read, 101_000), true);
    assert.equal(isFresh({ ...read, isReading: true }, 101_000), false);
    assert.equal(isFresh(read, 111_000), false);
    assert.equal(isFresh({ isReading: false, readAt: null }, 101_000), false);
  });

  it('takes the position as it was read, and never calls a continuous month flat', () => {
    const listed = [held(5, 3, 'ES'), { ...held(0, 3, 'ES1!'), in_sync: false }];
    assert.equal(positionNow(listed, 'ES', 1)?.strategy_position, 3, 'what was read, not what was told');
    assert.equal(positionNow([], 'ES', 3), null, 'what differed and is not listed has been closed');
    const button = (position: Position | null) => position && alignOrder(position)?.button;
    assert.equal(button(positionNow(listed, 'ES1!', 3)), 'Align ES1! to long 3');
    assert.equal(button(positionNow([], 'ES1!', 0)), 'Align ES1! to flat', 'flat strategies are not listed');
    assert.equal(positionNow([], 'ES1!', undefined), null);
  });

  it('says why', () => {
    assert.equal(reasonInWords(held(40, 0)), 'The strategy stands flat, the broker holds long 40.');
    assert.equal(reasonInWords(held(0, 2)), 'The strategy stands long 2, and the broker holds nothing.');
  });
});

describe('a position of which nobody knows', () => {
  const unknown = { ...held(0, -0.2), in_sync: null, may_be: [0, -0.2] };

  it('is two, never one number, and never in sync', () => {
    assert.deepEqual(saidOf(unknown), ['not known', 'risk']);
    assert.equal(mayBeInWords(unknown.may_be), 'flat or short 0.2, not known');
    assert.equal(mayBeInWords([2, 3, 4]), 'long 2, long 3 or long 4, not known');
    assert.equal(alignOrder(unknown), null);
    const { lead, rest, trouble } = headingOf(tallyOf([unknown, held(1, 1)]));
    assert.equal(`${lead}${rest}${trouble}`, '2 positions: 1 as the strategies say, 1 not known');
  });
});

describe('a position that is missing on a halted account', () => {
  const closed = { ...held(0, 2), isHalted: true };

  it('is told quietly, and nobody is asked to buy it again', () => {
    assert.deepEqual(saidOf(closed), ['−2, halted', null]);
    assert.equal(alignOrder(closed), null);
    assert.equal(
      reasonInWords(closed),
      'The strategy stands long 2, the broker holds nothing. The account is halted: nothing is opened until you resume it.',
    );
    const { lead, rest, trouble } = headingOf(tallyOf([closed]));
    assert.equal(`${lead}${rest}${trouble}`, '1 position: 1 held back by the halt');
  });

  it('is red all the same where too much is held', () => {
    assert.equal(alignOrder({ ...held(3, 2), isHalted: true })?.button, 'Sell 1 SOLUSDT.P to align');
  });
});

describe('the heading', () => {
  const headed = (...positions: Position[]) => {
    const { lead, rest, trouble } = headingOf(tallyOf(positions));
    return `${lead}${rest}${trouble}`;
  };

  it('sums up', () => {
    assert.equal(headed(), 'No positions');
    assert.equal(headed(held(1, 1)), '1 position, as the strategy says');
    assert.equal(headed(held(1, 1), held(2, 2)), '2 positions, all as the strategies say');
    assert.equal(headed(held(1, 1), held(2, 0)), '2 positions: 1 as the strategies say, 1 differs');
    assert.equal(headed(held(1, 0), held(2, 0)), '2 positions: 2 differ');
    assert.equal(
      headed(held(1, 1), held(2, 0), held(3, null)),
      '3 positions: 1 as the strategies say, 1 with no word from a strategy, 1 differs',
    );
    assert.equal(headed(held(3, null)), '1 position: 1 with no word from a strategy');
  });

  it('is as loud as the loudest', () => {
    assert.equal(tallyOf([held(1, 1)]).tone, null);
    assert.equal(tallyOf([held(1, 1), held(0, 2)]).tone, 'act');
    assert.equal(tallyOf([held(0, 2), held(2, 0)]).tone, 'risk');
  });

  it('adds money by currency, exactly, and leaves out what is not known', () => {
    assert.deepEqual(
      sumsByCurrency([
        { value: 0.1, currency: 'USDT' },
        { value: -3200, currency: 'TWD' },
        { value: 0.2, currency: 'USDT' },
        { value: null, currency: 'USDT' },
        { value: 7, currency: null },
      ]),
      [
        { currency: 'USDT', value: 0.3, text: '+0.30' },
        { currency: 'TWD', value: -3_200, text: '\u22123,200.00' },
      ],
    );
  });
});

describe('questions to brokers', () => {
  it('wait for each other, and for none that nobody wants any more', async () => {
    const through = openGate(1);
    const open = new AbortController().signal;
    const gone = new AbortController();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const ask = (name: string, signal = open, until: Promise<void> = Promise.resolve()) =>
      through(signal, async () => {
        log.push(name);
        await until;
      });
    const asked = [ask('first', open, first.promise), ask('second', gone.signal), ask('third')];
    const [, second] = asked;
    gone.abort(new Error('no longer wanted'));
    await assert.rejects(second as Promise<void>, /no longer wanted/);
    assert.deepEqual(log, ['first']);
    first.resolve();
    await Promise.all([asked[0], asked[2]]);
    assert.deepEqual(log, ['first', 'third']);
  });

  it('that fail give their place to the next', async () => {
    const through = openGate(1);
    const { signal } = new AbortController();
    await assert.rejects(through(signal, () => Promise.reject(new Error('the broker is away'))));
    assert.equal(await through(signal, async () => 'answered'), 'answered');
  });
});
