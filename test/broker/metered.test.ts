// Every connector counts what it sends on the account's meter: what nobody counts cannot be kept for orders.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import type { OpenBroker } from '../../src/broker/broker.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import { NO_HURRY } from './paper-desk.ts';
import { stubHarness } from './stub-harness.ts';

const ccxt = (name: Parameters<typeof openCcxt>[0]) => (url: string) => openCcxt(name, { url });
const CONNECTORS: Readonly<Record<string, (url: string) => OpenBroker>> = {
  binance: ccxt('binance'),
  bybit: ccxt('bybit'),
  okx: ccxt('okx'),
  gate: ccxt('gate'),
  bitget: ccxt('bitget'),
  alpaca: (url) => openAlpaca({ url }),
  shioaji: (url) => openShioaji({ url, clock: { now: () => Date.now() } }),
};

for (const [name, openAt] of Object.entries(CONNECTORS))
  describe(`The meter at ${name}`, () => {
    const stub = stubHarness(name, openAt);

    test('counts a balance, and a list of positions', async () => {
      const account = await stub.account();
      let sent = 0;
      const meter = {
        sent(weight = 1) {
          sent += weight;
        },
        told() {},
      };
      const broker = await account.connect({ meter });
      for (const ask of [() => broker.balance(NO_HURRY), () => broker.positions(NO_HURRY)]) {
        const before = sent;
        await ask();
        assert.ok(sent > before, `${sent} after ${before}`);
      }
      await broker.close();
    });
  });
