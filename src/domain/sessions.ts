// Where a day of trading ends: an order of the day is for such an instrument alone.

import type { BrokerName } from './brokers.ts';
import { canonicalSymbol } from './signals/symbol.ts';

/** At Alpaca all that is traded is a share or a fund; the paper exchange has a few of them. */
const SESSIONS: Readonly<Partial<Record<BrokerName, 'all' | readonly string[]>>> = {
  alpaca: 'all',
  paper: ['AAPL', 'MSFT', 'NVDA', 'TSLA', 'SPY', 'QQQ'],
};

export function hasSessions(broker: BrokerName, symbol: string): boolean {
  const known = SESSIONS[broker] ?? [];
  return known === 'all' || known.includes(canonicalSymbol(broker, symbol));
}
