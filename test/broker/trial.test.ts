// The first real trade, at every broker's stub: what it sees, what it writes down, and what a transcript is worth afterwards.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { compareTranscript } from '../../src/broker/transcript/compare.ts';
import { NoTranscript, readTranscript } from '../../src/broker/transcript/format.ts';
import { knownFields } from '../../src/broker/transcript/known.ts';
import { callOf } from '../../src/broker/unreadable.ts';
import { OPENERS, STUBS, type Stub, type StubName, type Tried, tryStub } from './trial-desk.ts';

const compare = (broker: StubName, text: string) =>
  compareTranscript(readTranscript(text), {
    // At an address of its own: what a process shares of a broker is not shared with this.
    openOver: (wire) => OPENERS[broker](wire, `http://${crypto.randomUUID()}.invalid`),
    known: knownFields(broker),
  });

/** By broker: a call, and the field of its replies that is called otherwise one day. */
const RENAMED: Readonly<Record<StubName, { readonly call: string; readonly field: string }>> = {
  binance: { call: 'GET /fapi/v1/order', field: 'executedQty' },
  bybit: { call: 'GET /v5/order/realtime', field: 'cumExecQty' },
  okx: { call: 'GET /api/v5/trade/order', field: 'accFillSz' },
  gate: { call: 'GET /api/v4/futures/usdt/orders/…', field: 'left' },
  bitget: { call: 'GET /api/v2/mix/order/detail', field: 'baseVolume' },
  alpaca: { call: 'GET /v2/orders/…', field: 'filled_qty' },
  shioaji: { call: 'POST /api/v1/portfolio/position_unit', field: 'quantity' },
};
const OF_UNIFIED = { call: 'GET /api/v3/trade/order-info', field: 'cumExecQty' };

for (const [name, stub] of Object.entries<Stub>(STUBS))
  describe(`a trial at ${name}`, () => {
    const { broker } = stub;
    let trying: Promise<Tried>;
    before(() => {
      trying = tryStub(stub, knownFields(broker));
    });

    test('sees what is assumed, row by row, and leaves nothing behind', async () => {
      const { outcome, left } = await trying;
      assert.equal(outcome.ended, 'well', outcome.why ?? '');
      assert.deepEqual(
        outcome.rows.filter(({ verdict }) => verdict === 'surprise'),
        [],
      );
      const fields = outcome.rows.find(({ step }) => step === 'fields');
      assert.equal(fields?.verdict, 'as_assumed', fields?.seen ?? 'no such row');
      for (const step of [
        'key',
        'market',
        'clock',
        'price',
        'balance',
        'position',
        'buy',
        'fill',
        'close',
        'flat',
      ])
        assert.ok(
          outcome.rows.some((row) => row.step === step),
          `${step} was not tried`,
        );
      assert.equal(outcome.home?.isFlat, true);
      assert.deepEqual(left, []);
    });

    test('writes nothing down that proves who asked', async () => {
      const { text, secrets, signatures } = await trying;
      assert.ok(signatures.length > 10, 'there was nothing to look for');
      for (const secret of new Set([...secrets, ...signatures]))
        for (const spelled of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
          assert.ok(!text.includes(spelled), `it has ${spelled}`);
    });

    test('its transcript, read through the connector again, tells the same', async () => {
      const { text } = await trying;
      const { otherwise, fields, calls, replies } = await compare(broker, text);
      assert.deepEqual([otherwise, fields], [[], []]);
      assert.ok(calls > 10 && replies > 10, `${calls} calls, ${replies} replies`);
    });

    test('a field that is called otherwise is named, by call and field', async () => {
      const { text } = await trying;
      const { call, field } = name === 'bitget, unified' ? OF_UNIFIED : RENAMED[broker];
      const changed = text
        .split('\n')
        .map((line) => (isReplyTo(line, call) ? line.replaceAll(`\\"${field}\\":`, '\\"another\\":') : line))
        .join('\n');
      assert.notEqual(changed, text, 'there was nothing to rename');
      const { otherwise, fields } = await compare(broker, changed);
      const named = fields.map(({ call: of, field: at, what }) => `${what} ${of} ${at.replace(/^.*\./, '')}`);
      assert.ok(named.includes(`missing ${call} ${field}`), named.join(', '));
      assert.ok(named.includes(`new ${call} another`), named.join(', '));
      assert.ok(otherwise.length > 0, 'and nothing was read otherwise');
    });
  });

function isReplyTo(line: string, call: string): boolean {
  if (!line.startsWith('{"exchanged"')) return false;
  const { method, path } = (JSON.parse(line) as { exchanged: { method: string; path: string } }).exchanged;
  return callOf(method, path) === call;
}

describe('a transcript', () => {
  let whole: Promise<Tried>;
  before(() => {
    whole = tryStub({ broker: 'bybit' }, knownFields('bybit'));
  });

  test('that was cut is compared as far as it goes, and said to be cut', async () => {
    const { text } = await whole;
    const lines = text.split('\n');
    const cut = `${lines.slice(0, 40).join('\n')}\n${lines[40]?.slice(0, 20)}`;
    assert.equal(readTranscript(cut).cutAfter, 40);
    assert.equal(readTranscript(text).cutAfter, null);
    // Where a line ended, too.
    assert.equal(readTranscript(`${lines.slice(0, 40).join('\n')}\n`).cutAfter, 40);
    const { otherwise } = await compare('bybit', cut);
    assert.deepEqual(otherwise, []);
  });

  test('that is none, is of another version or was damaged is refused in words', async () => {
    const { text } = await whole;
    const refuses = (given: string, words: RegExp) =>
      assert.throws(
        () => readTranscript(given),
        (fault: Error) => fault instanceof NoTranscript && words.test(fault.message),
      );
    refuses('', /no transcript/);
    refuses('{"a": 1}\n', /no transcript/);
    refuses('<html>', /no transcript/);
    refuses('{"fillpath_transcript": 2, "fillpath": "9.9.9"}\n', /version 2.*9\.9\.9/);
    refuses('{"fillpath_transcript": 1}\n', /not whole/);
    refuses(text.replace('\n', '\nnonsense\n'), /Line 2 cannot be read/);
  });
});
