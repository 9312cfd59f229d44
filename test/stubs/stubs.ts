// The brokers that the exchange can stand in for, each in its own language. chaos/exchange-dialect.ts tells how to write one.

import type { Dialect } from '../../chaos/exchange-dialect.ts';

const STUBS: Readonly<Record<string, () => Promise<Dialect>>> = {
  binance: async () => (await import('./binance.ts')).binance,
  bybit: async () => (await import('./bybit.ts')).bybit,
  okx: async () => (await import('./okx.ts')).okx,
  gate: async () => (await import('./gate.ts')).gate,
  bitget: async () => (await import('./bitget.ts')).bitget,
  alpaca: async () => (await import('./alpaca.ts')).alpaca,
  shioaji: async () => (await import('./shioaji.ts')).shioaji,
};

export async function stubOf(broker: string): Promise<Dialect> {
  const load = STUBS[broker];
  if (!load) throw new Error(`there is no stub of ${broker}; there are ${Object.keys(STUBS).join(', ')}`);
  return load();
}
