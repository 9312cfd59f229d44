// Gate through the connector, against its stub: the contract, and what is Gate's own.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('gate', (url) => openCcxt('gate', { url }));

const harness = () =>
  stub.harness({
    ...exchangeTerms('GATE', 'OLD_USDT'),
    hasNoFailures: true,
    protection: { takesIdleStops: 'what a stop would close is looked at when it triggers' },
  });

brokerContract('gate', harness);
protectionContract('gate', harness);
