// Binance through the connector, against its stub: the contract, and what is Binance's own.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('binance', (url) => openCcxt('binance', { url }));

brokerContract('binance', () => stub.harness(exchangeTerms('BINANCE', 'BTCUSDC')));
