// Gate through the connector, against its stub: the contract, and what is Gate's own.

import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { brokerContract } from '../contracts/broker.ts';
import { exchangeTerms } from './ccxt-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('gate', (url) => openCcxt('gate', { url }));

brokerContract('gate', () => stub.harness({ ...exchangeTerms('GATE', 'OLD_USDT'), hasNoFailures: true }));
