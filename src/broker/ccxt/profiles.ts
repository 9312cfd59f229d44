// Every exchange that is reached through ccxt.

import { binance } from './binance.ts';
import { binanceStops } from './binance-stops.ts';
import { bitget } from './bitget.ts';
import { classicStops } from './bitget-classic-stops.ts';
import { unifiedStops } from './bitget-unified-stops.ts';
import { bybit } from './bybit.ts';
import { bybitStops } from './bybit-stops.ts';
import { gate } from './gate.ts';
import { gateStops } from './gate-stops.ts';
import { okx } from './okx.ts';
import { okxStops } from './okx-stops.ts';
import type { AccountKind, ExchangeName } from './profile.ts';
import type { StopWords } from './stop-words.ts';

export const PROFILES = { binance, bybit, okx, gate, bitget } as const;

/** How each of them speaks of stops. */
export const STOP_WORDS: Readonly<Record<ExchangeName, (kind: AccountKind) => StopWords>> = {
  binance: () => binanceStops,
  bybit: bybitStops,
  okx: () => okxStops,
  gate: () => gateStops,
  bitget: (kind) => (kind === 'unified' ? unifiedStops : classicStops),
};
