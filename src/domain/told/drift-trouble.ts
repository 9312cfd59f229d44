// What a user has to do about a position that is not where its strategy stands.

import {
  absolute,
  compare,
  type Decimal,
  ONE,
  sign,
  subtract,
  toNumber,
  toNumberOrNull,
  ZERO,
} from '../decimal.ts';
import type { Timestamp } from '../ids.ts';
import {
  countedPosition,
  positionOf,
  type Scale,
  type Stance,
  type Stopped,
  scaledPosition,
} from '../signals/strategy.ts';
import { type Trouble, type TroubledAccount, trouble } from './trouble.ts';

export interface Drift {
  readonly symbol: string;
  readonly since: Timestamp;
  readonly stance: Stance;
  /** What protection has closed of it is no difference; null: it has closed nothing. */
  readonly stopped: Stopped | null;
  readonly scale: Scale;
  /** What the account held when both were last compared; null: it was not noted. */
  readonly held: Decimal | null;
}

/** null: where the account is to stand is not known. */
export function driftTrouble(account: TroubledAccount, drift: Drift): Trouble | null {
  const { symbol, since, stance, stopped, scale, held } = drift;
  const counted = countedPosition(stance, stopped, scale);
  if (counted === null) return null;
  const said = positionOf(stance);
  // Where an alignment takes the position, whatever protection has closed; null: it needs a size, and none was said.
  const whole = said && scaledPosition(said, scale);
  const about = {
    since,
    trading_account_id: account.id,
    symbol,
    ...(whole !== null && { strategy_position: toNumber(whole) }),
    broker_position: toNumberOrNull(held),
  };
  const strategy = `${symbol}: the strategy is ${whole === null ? stance.side : standing(whole)}`;
  if (held === null)
    return trouble({
      ...about,
      kind: 'drift_excess',
      title: `${strategy}, and ${account.name} holds something else.`,
      detail: 'Look at the position, and align it or the strategy.',
    });
  const closed =
    stopped === null ? '' : ` protection has closed ${stopped.isAll ? 'all' : stopped.quantity} of that, and`;
  const title = `${strategy},${closed} ${account.name} holds ${held === ZERO ? 'nothing' : standing(held)}.`;
  const isMissing = isLess(held, counted);
  return trouble({
    ...about,
    kind: isMissing ? 'drift_missing' : 'drift_excess',
    title,
    detail: `${isMissing ? missing(symbol, counted, held) : tooMuch(symbol, { counted, held, stopped })} ${wayBack({ counted, held, whole, stopped })}`,
  });
}

function missing(symbol: string, counted: Decimal, held: Decimal): string {
  const apart = absolute(subtract(counted, held));
  return `${apart} ${symbol} that the strategy counts on ${compare(apart, ONE) === 0 ? 'is' : 'are'} missing.`;
}

function tooMuch(
  symbol: string,
  { counted, held, stopped }: { readonly counted: Decimal; readonly held: Decimal } & Pick<Drift, 'stopped'>,
): string {
  if (sign(counted) * sign(held) < 0) return 'The account holds the opposite of its strategy.';
  const apart = absolute(subtract(counted, held));
  return stopped === null
    ? `The account holds ${apart} ${symbol} more than its strategy.`
    : `The account holds ${apart} ${symbol} more than protection has left of its strategy’s position.`;
}

/** Aligning goes to where the strategy stands: where protection has closed something, that is not where the difference ends. */
function wayBack(at: {
  readonly counted: Decimal;
  readonly held: Decimal;
  readonly whole: Decimal | null;
  readonly stopped: Stopped | null;
}): string {
  const { counted, held, whole, stopped } = at;
  if (stopped === null) return `Aligning ${orderFor(counted, held)} at market.`;
  const byHand = `To end the difference, an order of your own ${orderFor(counted, held)}.`;
  if (whole === null) return byHand;
  return whole === held
    ? `${byHand} Aligning trades nothing: the strategy has again what protection closed.`
    : `${byHand} Aligning ${orderFor(whole, held)} at market: it opens again what protection closed.`;
}

/** The account holds less on the strategy's own side: nothing is at risk that nobody knows of. */
const isLess = (held: Decimal, counted: Decimal): boolean =>
  sign(counted) !== 0 && sign(held) * sign(counted) >= 0 && compare(absolute(held), absolute(counted)) < 0;

const orderFor = (to: Decimal, held: Decimal): string => {
  const change = subtract(to, held);
  return `${sign(change) > 0 ? 'buys' : 'sells'} ${absolute(change)}`;
};

const standing = (position: Decimal): string =>
  sign(position) === 0 ? 'flat' : `${sign(position) > 0 ? 'long' : 'short'} ${absolute(position)}`;
