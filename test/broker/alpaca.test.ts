import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { brokerContract } from '../contracts/broker.ts';
import { protectionContract } from '../contracts/broker-protection.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('alpaca', (url) => openAlpaca({ url }), 'paper');

for (const suite of [brokerContract, protectionContract])
  suite('alpaca', () =>
    stub.harness({
      symbols: { platform: 'NASDAQ:AAPL', broker: 'AAPL', another: 'NYSE:BRK.B', unknown: 'NASDAQ:AAPLE' },
      quantity: decimal(1),
      stray: 'BTCUSD',
      // Answered from a list that was read before.
      outOfReach: ['resolve', 'instruments'],
      fraction: decimal('0.01'),
      takesNoOpposed: true,
      never: { position_mode_mismatch: 'there are no hedged accounts at Alpaca' },
      protection: { watchesOnePrice: 'Alpaca computes no price of its own: a stop watches the last one' },
    }));
