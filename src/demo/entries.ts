// Entries that rest, on the account whose prices the demo sets: one waits below the market, is moved, taken back or filled.

import { plain, type Scene, type Stage, signal } from './stage.ts';
import { priceMoves, untilIs } from './stops.ts';

const SYMBOL = 'ADAUSDT';

/** So far below the price of now, with a stop of its own for what is filled; the next one of its id takes its place. */
const waits = (stage: Stage, below: number) =>
  signal(
    stage,
    'stops',
    plain(stage, {
      ...{ action: 'long_entry', symbol: SYMBOL, quantity: 2_000, quantity_type: 'cash' },
      limit_price: Number((stage.cast.market.price(SYMBOL) * (1 - below)).toFixed(4)),
      ...{ expires_in: 3_600, id: 'Dip', stop_loss: '3%' },
    }),
  );

export const entryRests: Scene = (stage) => waits(stage, 0.03);

/** The first one is `replaced`. */
export const entryMoved: Scene = (stage) => waits(stage, 0.02);

const entryTakenBack: Scene = (stage) =>
  signal(stage, 'stops', plain(stage, { action: 'cancel', symbol: SYMBOL, cancel_id: 'Dip' }));

/** The price comes to it: what is filled is protected from its first fill on, and closed a moment later. */
export const entryFilled: Scene = async (stage) => {
  await waits(stage, 0.01);
  await priceMoves(stage, SYMBOL, -0.0125);
  await untilIs(stage, SYMBOL, 'standing');
  await signal(stage, 'stops', plain(stage, { action: 'close', symbol: SYMBOL }));
  return priceMoves(stage, SYMBOL, 0.0127);
};

/** A hundredth of what the account is worth is lost if its stop is hit; closed a moment later. */
export const sizedByRisk: Scene = async (stage) => {
  const entry = { action: 'long_entry', symbol: 'AVAXUSDT', quantity: 1, quantity_type: 'risk_percent' };
  await signal(stage, 'crypto', plain(stage, { ...entry, stop_loss: '4%' }));
  const half = {
    action: 'long_exit',
    symbol: 'AVAXUSDT',
    quantity: 50,
    quantity_type: 'percent_of_position',
  };
  await signal(stage, 'crypto', plain(stage, half));
  return signal(stage, 'crypto', plain(stage, { action: 'close', symbol: 'AVAXUSDT' }));
};

/** Whatever rested before: in the end one rests again. */
export const entriesGoOn: Scene = async (stage) => {
  await stage.chance.pick([entryFilled, entryTakenBack, entryMoved])(stage);
  return entryRests(stage);
};
