// Positions that are protected, on an account of their own whose prices the demo sets: so stops move and fire while one looks on.

import { setTimeout as pause } from 'node:timers/promises';
import type { PricedSymbol } from './market.ts';
import { act, plain, type Scene, type Stage, signal } from './stage.ts';

const account = ({ desk }: Stage) => desk.accounts.stops.id;

export const priceMoves = (stage: Stage, symbol: PricedSymbol, part: number) =>
  act(stage, {
    ...{ method: 'PATCH', path: `/trading/accounts/${account(stage)}` },
    body: { paper: { price: stage.cast.market.move(symbol, part) } },
  });

/** An alert of a strategy that is long by so much afterwards, or flat. */
const strategySays = (
  stage: Stage,
  symbol: PricedSymbol,
  {
    units,
    before,
    ...protection
  }: { readonly units: number; readonly before: number; [field: string]: unknown },
) => {
  const side = (size: number) => (size > 0 ? 'long' : 'flat');
  return signal(
    stage,
    'stops',
    plain(stage, {
      ...{ action: units > before ? 'buy' : 'sell', symbol, quantity: Math.abs(units - before) },
      ...{ id: 'Breakout', market_position: side(units), market_position_size: units },
      ...{ prev_market_position: side(before), prev_market_position_size: before },
      ...protection,
    }),
  );
};

interface Shown {
  readonly id: string;
  readonly state: string;
}

/** The latest of the symbol; null: there is none. */
async function protectionOf(stage: Stage, symbol: PricedSymbol): Promise<Shown | null> {
  const query = `trading_account_id=${account(stage)}&symbol=${symbol}&limit=1`;
  const { body } = await act(stage, { method: 'GET', path: `/trading/protections?${query}` });
  return (body as { items?: Shown[] } | null)?.items?.[0] ?? null;
}

const LOOKS = 8;
const BETWEEN_LOOKS_MS = 150;

/** As whoever looks at the page waits for it; what never comes is not waited for. */
export async function untilIs(
  stage: Stage,
  symbol: PricedSymbol,
  state: 'standing' | 'ended',
): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    await pause(BETWEEN_LOOKS_MS);
    const found = await protectionOf(stage, symbol);
    if (found?.state === state) return;
    // Sooner than the next sweep.
    if (found && state === 'ended' && looks === 0)
      await act(stage, { method: 'POST', path: `/trading/protections/${found.id}/look` });
  }
}

/** The price falls through the stop: the position is closed, and stays so until the strategy has been flat. */
export const stoppedOut: Scene = async (stage) => {
  await strategySays(stage, 'LTCUSDT', { units: 40, before: 0, stop_loss: '2%', take_profit: '5%' });
  await untilIs(stage, 'LTCUSDT', 'standing');
  await priceMoves(stage, 'LTCUSDT', -0.023);
  await untilIs(stage, 'LTCUSDT', 'ended');
  await strategySays(stage, 'LTCUSDT', { units: 60, before: 40, stop_loss: '2%' });
  await strategySays(stage, 'LTCUSDT', { units: 0, before: 60 });
  return priceMoves(stage, 'LTCUSDT', 0.0235);
};

/** Half is closed at the first target, and the stop goes to the entry. */
export const targetReached: Scene = async (stage) => {
  await strategySays(stage, 'XRPUSDT', {
    ...{ units: 8_000, before: 0, stop_loss: '3%', break_even: 'tp1' },
    take_profit: [
      { at: '2%', percent: 50 },
      { at: '9%', percent: 50 },
    ],
  });
  await untilIs(stage, 'XRPUSDT', 'standing');
  return priceMoves(stage, 'XRPUSDT', 0.022);
};

const TRAILED = 120;

/** Bought where nothing is held; else the price goes up mostly, and the stop with it, until it falls through. */
export const trails: Scene = async (stage) => {
  const found = await protectionOf(stage, 'SOLUSDT');
  if (found !== null && found.state !== 'ended')
    return priceMoves(
      stage,
      'SOLUSDT',
      stage.chance.unit() < 0.12 ? -0.016 : stage.chance.between(0.001, 0.004),
    );
  // It was stopped out: it goes on once the strategy has been flat.
  if (found !== null) await strategySays(stage, 'SOLUSDT', { units: 0, before: TRAILED });
  return strategySays(stage, 'SOLUSDT', { units: TRAILED, before: 0, trailing_stop: '1%' });
};

/** By hand, or by a script that draws its stop: closer to the price. */
export const stopMoved: Scene = async (stage) => {
  const stop = Number((stage.cast.market.price('XRPUSDT') * 0.985).toFixed(4));
  return signal(stage, 'stops', plain(stage, { action: 'protect', symbol: 'XRPUSDT', stop_loss: stop }));
};
