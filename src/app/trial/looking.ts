// What a trial asks before anything is sent: clock, key, market, price, balance, and whether the account is empty there.

import { type Balance, type Fitness, type Instrument, type Quote, unitValueOf } from '../../broker/broker.ts';
import { add, compare, type Decimal, decimal, downTo, isOnStep, sign } from '../../domain/decimal.ts';
import { Surprise, tookOf } from '../../domain/trial/row.ts';
import { planTrial, type TrialPlan } from '../../domain/trial/size.ts';
import type { Desk } from './desk.ts';

export interface Wanted {
  readonly symbol: string;
  readonly currency: string;
  /** Of the value of the order, in the account's currency. */
  readonly atMost: Decimal;
  /** null: the smallest. */
  readonly quantity: Decimal | null;
  /** How far our clock is ahead, by the wire; null: nobody says. */
  wireAheadMs(): number | null;
}

export interface Seen {
  readonly instrument: Instrument;
  readonly plan: TrialPlan;
  readonly balance: Balance;
}

/** The trial is not begun, and why: nothing is wrong with the broker. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const GOOD_CLOCK_MS = 2_000;
const BAD_CLOCK_MS = 5_000;
/** What is allowed is said in round numbers. */
const TEN = decimal(10);

export async function lookAround(desk: Desk, wanted: Wanted): Promise<Seen> {
  const { broker, ask } = desk;
  let fitness: Fitness | undefined;
  await desk.step(
    { step: 'key', assumed: 'it may read and trade, and the account is as it must be' },
    async () => {
      fitness = await ask((signal) => broker.verify(signal, [wanted.symbol]));
      return fitness.warnings.length === 0 ? 'so it is' : { noted: fitness.warnings.join(' ') };
    },
  );
  const instrument = await lookAtMarket(desk, wanted);
  await desk.step(
    { step: 'clock', assumed: `ours is within ${tookOf(GOOD_CLOCK_MS)} of the broker’s` },
    async () => clockWords(broker.aheadMs?.() ?? wanted.wireAheadMs()),
  );
  let quote: Quote | undefined;
  await desk.step({ step: 'price', assumed: 'a bid that is not above the ask' }, async () => {
    quote = await ask((signal) => broker.quote(instrument, signal));
    const { bid, ask: offer } = quote;
    if (sign(bid) <= 0 || compare(bid, offer) > 0) throw new Surprise(`bid ${bid}, ask ${offer}`);
    return `bid ${bid}, ask ${offer}`;
  });
  let balance: Balance | undefined;
  await desk.step({ step: 'balance', assumed: `told in ${wanted.currency}` }, async () => {
    balance = await ask((signal) => broker.balance(signal));
    const told = `${balance.available} ${balance.currency} available, equity ${balance.equity}`;
    if (balance.currency !== wanted.currency) throw new Surprise(told);
    return told;
  });
  if (!quote || !balance) throw new Error('a step that ended told nothing');
  const plan = planOf(desk, instrument, quote, wanted);
  refuseExpensive(plan, instrument, balance, wanted);
  await lookForCompany(desk, instrument);
  return { instrument, plan, balance };
}

async function lookAtMarket(desk: Desk, { symbol }: Wanted): Promise<Instrument> {
  const found = await desk.ask((signal) => desk.broker.resolve(symbol, signal));
  if ('rejection' in found) throw new Refused(found.rejection.message);
  const { quantityStep, minQuantity, minValue, tickSize } = found;
  await desk.step(
    { step: 'market', assumed: 'it is listed, and its least quantity is a multiple of its step' },
    async () => {
      const told =
        `${found.symbol}: step ${quantityStep}, not below ${minQuantity}` +
        `${minValue ? ` or a value of ${minValue}` : ''}, tick ${tickSize}`;
      if (!isOnStep(minQuantity, quantityStep)) throw new Surprise(told);
      return told;
    },
  );
  if (!found.open)
    throw new Refused(
      `The market of ${found.symbol} is closed${found.nextOpen ? ` until ${found.nextOpen}` : ''}. Try again when it is open.`,
    );
  return found;
}

function clockWords(aheadMs: number | null): string | { readonly noted: string } {
  if (aheadMs === null) return { noted: 'the broker does not tell its time' };
  const off = Math.abs(aheadMs);
  const words = `ours is ${tookOf(off)} ${aheadMs < 0 ? 'behind' : 'ahead'}`;
  if (off > BAD_CLOCK_MS)
    throw new Surprise(
      `${words}. Have this machine’s clock set by the network (NTP): orders would be refused or late`,
    );
  return off > GOOD_CLOCK_MS ? { noted: words } : words;
}

function planOf(desk: Desk, instrument: Instrument, quote: Quote, { quantity }: Wanted): TrialPlan {
  const { stop, wholeStops = false } = desk.broker.capabilities;
  const market = { ...instrument, unitValue: unitValueOf(instrument) };
  return planTrial(market, quote, { wholeStops: wholeStops && stop !== 'none', asked: quantity });
}

function refuseExpensive(
  { quantity, value, cost }: TrialPlan,
  { symbol }: Instrument,
  { available }: Balance,
  { currency, atMost }: Wanted,
): void {
  if (compare(value, atMost) > 0)
    throw new Refused(
      `The smallest order of ${symbol} that everything can be tried with is ${quantity}, worth ${value} ${currency}: more than ` +
        `${atMost}. Choose a cheaper market with --symbol, or allow it with --at-most ${add(downTo(value, TEN), TEN)}.`,
    );
  if (compare(available, cost) <= 0)
    throw new Refused(`Only ${available} ${currency} are available: not enough to try anything with.`);
}

/** What is there already is somebody's: beside it nobody could say what the trial has opened. */
export async function lookForCompany(desk: Desk, instrument: Instrument, step = 'position'): Promise<void> {
  const { broker, ask } = desk;
  const { symbol } = instrument;
  await desk.step({ step, assumed: 'nothing is held, nothing rests, no stop stands' }, async () => {
    const held = await ask((signal) => broker.position(instrument, signal));
    const rows = (await ask((signal) => broker.positions(signal))).filter((row) => row.symbol === symbol);
    const open = (await ask((signal) => broker.openOrders(signal))).filter(
      (order) => order.symbol === symbol,
    );
    const stops = (await ask(async (signal) => broker.stops?.standing(instrument, signal))) ?? [];
    const there = [
      ...(sign(held) === 0 ? [] : [`${held} is held`]),
      ...(sign(held) === 0 && rows.some(({ quantity }) => sign(quantity) !== 0)
        ? [`${rows.map(({ quantity }) => quantity).join(' and ')} is listed as held`]
        : []),
      ...(open.length === 0 ? [] : [`${open.length} order${open.length === 1 ? ' rests' : 's rest'}`]),
      ...(stops.length === 0 ? [] : [`${stops.length} stop${stops.length === 1 ? ' stands' : 's stand'}`]),
    ];
    if (there.length > 0)
      throw new Refused(
        `The account is not empty in ${symbol}: ${there.join(', ')}. The trial touches nothing that is there: choose another market with --symbol, or close it first.`,
      );
    return 'so it is';
  });
}
