// Bybit through the connector, against its stub: the contract, and what is Bybit's own.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('bybit', (url) => openCcxt('bybit', { url }));

for (const kind of ['unified', 'classic'] as const) {
  const harness = () => stub.harness(exchangeTerms('BYBIT', 'BTCUSDT-25JUN27'), { account_type: kind });
  brokerContract(`bybit, ${kind}`, harness);
  protectionContract(`bybit, ${kind}`, harness);
}
