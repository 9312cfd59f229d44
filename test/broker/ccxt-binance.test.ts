// Binance through the connector, against its stub: the contract, and what is Binance's own.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { candlesContract } from '../contracts/broker-candles.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('binance', (url) => openCcxt('binance', { url }));

const harness = () =>
  stub.harness({
    ...exchangeTerms('BINANCE', 'BTCUSDC'),
    protection: { takesIdleStops: 'what a stop would close is looked at when it triggers' },
  });

brokerContract('binance', harness);
candlesContract('binance', harness);
protectionContract('binance', harness);
