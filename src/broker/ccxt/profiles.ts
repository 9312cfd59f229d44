// Every exchange that is reached through ccxt.

import { binance } from './binance.ts';
import { bitget } from './bitget.ts';
import { bybit } from './bybit.ts';
import { gate } from './gate.ts';
import { okx } from './okx.ts';

export const PROFILES = { binance, bybit, okx, gate, bitget } as const;
