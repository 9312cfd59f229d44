import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Choice,
  closeWords,
  haltWords,
  holdingInWords,
  outcomeOf,
} from '../../web/pages/halt/halt-words.ts';
import { type Progress, throwAll } from '../../web/pages/halt/throwing.ts';

const choice = (name: string, holding: Choice['holding'], halted = false): Choice => ({
  account: { name, halted },
  holding,
});
const LONG = { symbol: 'BTCUSDT.P', quantity: 0.2 };
const SHORT = { symbol: 'TXF1!', quantity: -1 };
const GONE = { symbol: 'AAPL', quantity: 0 };

describe("the kill switch's buttons", () => {
  it('name the one account, and count several', () => {
    assert.equal(haltWords([choice('Bybit main', [])]), 'Halt Bybit main');
    assert.equal(haltWords([choice('Bybit main', []), choice('Paper lab', [])]), 'Halt 2 accounts');
  });

  it('halt nothing twice', () => {
    assert.equal(haltWords([choice('Bybit main', [], true)]), null);
    assert.equal(haltWords([]), null);
  });

  it('say how many positions would be closed, of what is held and not of what only a strategy holds', () => {
    assert.equal(
      closeWords([choice('Bybit main', [LONG, GONE]), choice('Taiwan futures', [SHORT])]),
      'Close 2 positions and halt 2 accounts',
    );
    assert.equal(closeWords([choice('Alpaca swing', [GONE])]), null);
    assert.equal(closeWords([]), null);
  });

  it('count nothing while a broker has not said what it holds', () => {
    assert.equal(
      closeWords([choice('Bybit main', [LONG]), choice('Taiwan futures', null)]),
      'Close all positions and halt 2 accounts',
    );
  });

  it('close what a halted account still holds', () => {
    assert.equal(closeWords([choice('Bybit main', [LONG], true)]), 'Close 1 position of Bybit main');
    assert.equal(
      closeWords([choice('Bybit main', [LONG], true), choice('Taiwan futures', [SHORT])]),
      'Close 2 positions and halt Taiwan futures',
    );
  });

  it('say what rests and is taken back', () => {
    const resting = { ...choice('Bybit main', [LONG]), resting: 2 };
    assert.equal(haltWords([resting]), 'Halt Bybit main, take back 2 resting entries');
    assert.equal(closeWords([resting]), 'Close 1 position and halt Bybit main, take back 2 resting entries');
    assert.equal(
      haltWords([{ ...choice('Bybit main', []), resting: 1 }]),
      'Halt Bybit main, take back 1 resting entry',
    );
  });

  it('stand beside what each account holds', () => {
    assert.equal(holdingInWords([LONG, GONE, SHORT]), 'long 0.2 BTCUSDT.P, short 1 TXF1!');
    assert.equal(holdingInWords([GONE]), 'flat');
  });
});

describe('what became of a halt', () => {
  const closed = { symbol: 'BTCUSDT.P', status: 'filled', error: null } as never;
  const underWay = { symbol: 'ETHUSDT.P', status: 'placed', error: null } as never;

  it('is said without closes, and with them', () => {
    const nothing = { orders: [], flatten_error: null };
    assert.match(outcomeOf(nothing, { flatten: false }).text, /^Halted\. New entries are refused/);
    assert.match(outcomeOf(nothing, { flatten: true }).text, /Nothing was held/);
    assert.deepEqual(outcomeOf({ orders: [closed], flatten_error: null }, { flatten: true }), {
      tone: 'good',
      text: 'Halted, and 1 position closed.',
    });
  });

  it('counts the entries that were taken back', () => {
    const flatten = { closed: [], left: [], cancelled: 2, cancel_error: null };
    assert.equal(
      outcomeOf({ orders: [closed], flatten, flatten_error: null }, { flatten: true }).text,
      'Halted, 2 entries taken back, and 1 position closed.',
    );
  });

  it('is red where a close is not confirmed, in the words of the service', () => {
    const flatten_error = { code: 'close_unconfirmed', message: 'Look at these orders again.' };
    assert.deepEqual(outcomeOf({ orders: [underWay], flatten_error }, { flatten: true }), {
      tone: 'risk',
      text: 'Look at these orders again.',
    });
    assert.deepEqual(outcomeOf({ orders: [closed, underWay], flatten_error: null }, { flatten: true }), {
      tone: 'risk',
      text: 'Halted. 1 of 2 closes not confirmed yet.',
    });
  });
});

describe('the kill switch, thrown for several accounts', () => {
  it('closes what one holds while the flag of another has no answer', async () => {
    const hangs = Promise.withResolvers<never>();
    const noted = new Map<string, Progress>();
    const posted: string[] = [];
    const closed = Promise.withResolvers<void>();
    const all = throwAll(
      ['a', 'b'],
      { flatten: true },
      {
        async post(id, flatten) {
          posted.push(`${id} ${flatten}`);
          if (id === 'a') return hangs.promise;
          return { orders: [], flatten_error: null };
        },
        note(id, now) {
          noted.set(id, now);
          if (id === 'b' && now.is === 'done' && posted.includes('b true')) closed.resolve();
        },
      },
    );
    await closed.promise;
    assert.deepEqual(posted, ['a false', 'b false', 'b true']);
    assert.equal(noted.get('a')?.is, 'under way');

    hangs.reject(new Error('no answer'));
    await all;
    assert.deepEqual(posted.slice(3), ['a true'], 'closing halts as well, whatever became of the flag');
    assert.equal(noted.get('a')?.is, 'failed');
  });
});
