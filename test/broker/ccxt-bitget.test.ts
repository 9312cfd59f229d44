// Bitget through the connector, against its stub, for classic accounts and for unified ones.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('bitget', (url) => openCcxt('bitget', { url }));

for (const kind of ['classic', 'unified'] as const) {
  const harness = () =>
    stub.harness(
      {
        ...exchangeTerms('BITGET', 'OLDUSDT'),
        saysNoDelay: true,
        hasNoFailures: true,
        readsOneWord: ['verify'],
      },
      { account_type: kind },
    );
  brokerContract(`bitget, ${kind}`, harness);
  protectionContract(`bitget, ${kind}`, harness);
}
