// OKX through the connector, against its stub: the contract, and what is OKX's own.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('okx', (url) => openCcxt('okx', { url }));

const harness = () =>
  stub.harness({ ...exchangeTerms('OKX', 'BTC-USD-SWAP'), saysNoDelay: true, hasNoFailures: true });

brokerContract('okx', harness);
protectionContract('okx', harness);
