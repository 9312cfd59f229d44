// Stops, targets and trailing stops as other services write them, in our words. What is not certain is lost, and named with what
// to send.

import type { Level } from '../protection/level.ts';
import { MOST_TARGETS } from '../protection/wish.ts';
import { amount, type ForeignFields, type OwnFields, plain, without } from './foreign-fields.ts';
import { insteadOf, insteadOfPine } from './refused-fields.ts';

type Units = Readonly<Record<string, Level['unit']>>;

const SUFFIX = { price: '', percent: '%', ticks: 't', points: 'p' } as const satisfies Record<
  Level['unit'],
  string
>;

/** A number above zero, or a placeholder that will be one; null: neither. */
function levelIn(text: string | null, unit: Level['unit']): string | number | null {
  const value = amount(text);
  if (value === null || unit === 'price') return value;
  return `${value}${SUFFIX[unit]}`;
}

/** The one of several fields by which a level is given; null: none. `unclear`: more than one, or no number. */
export function oneLevel(said: ForeignFields, units: Units): string | number | 'unclear' | null {
  const given = Object.keys(units).filter((name) => said.has(name));
  const levels = given.map((name) => levelIn(said.take(name), units[name] ?? 'price'));
  if (levels.length === 0) return null;
  return levels.length > 1 ? 'unclear' : (levels[0] ?? 'unclear');
}

/** What is lost of a field that asks for protection, and what to send instead. */
const lostLevel = (name: string, why: string): string =>
  without(name, `${why} ${insteadOf(name) ?? insteadOfPine(name)}`);

const NOT_CERTAIN = 'it does not say for certain where.';
export const WHOLE = 'the whole position is protected here, and nothing is opened.';
export const AT_THE_MARKET =
  'a stop closes at the market here: one with a limit can be jumped over. Its limit is left out.';

/** Ours of it, or what is lost. */
export function placed(
  field: 'stop_loss' | 'take_profit' | 'trailing_stop',
  level: string | number | 'unclear' | null,
  { name, lost }: { readonly name: string; readonly lost: string[] },
): OwnFields {
  if (level === 'unclear') lost.push(lostLevel(name, NOT_CERTAIN));
  return level === null || level === 'unclear' ? {} : { [field]: level };
}

/** stopLoss {stopPrice | percent | amount | trailPercent | trailAmount}, takeProfit {limitPrice | percent | amount}. */
export function ofTradersPost(said: ForeignFields, lost: string[], order: OwnFields | null): OwnFields {
  if (order === null) return {};
  const stop = said.takeFields('stopLoss');
  const target = said.takeFields('takeProfit');
  const [asksForStop, asksForTarget] = [!stop.isEmpty, !target.isEmpty];
  const type = plain(stop.take('type'));
  if (stop.take('limitPrice') !== null || type === 'stop_limit')
    lost.push(without('stopLoss', AT_THE_MARKET));
  const at = oneLevel(stop, { stopPrice: 'price', percent: 'percent', amount: 'points' });
  const trail = oneLevel(stop, { trailPercent: 'percent', trailAmount: 'points' });
  const profit = oneLevel(target, { limitPrice: 'price', percent: 'percent', amount: 'points' });
  const kind = type === 'trailing_stop' ? trail : type === '' ? (at ?? trail) : at;
  const isAsTyped = kind !== null && ['', 'stop', 'stop_limit', 'trailing_stop'].includes(type);
  // Of two ways to say it, of another kind than it says, or of money (pnlAmount), nobody knows where it is.
  const isUnclear = asksForStop && ((at !== null && trail !== null) || !isAsTyped);
  const fields = isUnclear
    ? placed('stop_loss', 'unclear', { name: 'stopLoss', lost })
    : {
        ...placed('stop_loss', at, { name: 'stopLoss', lost }),
        ...placed('trailing_stop', trail, { name: 'stopLoss', lost }),
      };
  const level = profit ?? (asksForTarget ? 'unclear' : null);
  lost.push(...stop.left(), ...target.left());
  return { ...fields, ...placed('take_profit', level, { name: 'takeProfit', lost }) };
}

const SIGNED =
  /^(?<sign>[+-]?)(?<number>[\d.]{1,24})\s*(?:(?<percent>%)|(?<ticks>ticks?)|(?<points>points?))$/i;

/**
 * stop_loss and take_profit: a price, or so much above (+) or below (-) the market. Ours has no sign, since the side is known: so
 * the sign has to be the one that the side of the order makes it.
 */
export function ofCrossTrade(said: ForeignFields, lost: string[], order: OwnFields | null): OwnFields {
  if (order === null) return {};
  const level = (name: 'stop_loss' | 'take_profit'): OwnFields => {
    const text = said.take(name);
    if (text === null) return {};
    const { sign, number = null, ...units } = SIGNED.exec(text)?.groups ?? {};
    if (number === null) return placed(name, levelIn(text, 'price') ?? 'unclear', { name, lost });
    const unit = (['percent', 'ticks', 'points'] as const).find((known) => units[known] !== undefined);
    const isAbove = sign !== '-';
    const isMeant = order.action === (isAbove === (name === 'take_profit') ? 'buy' : 'sell');
    return placed(name, (isMeant && unit && levelIn(number, unit)) || 'unclear', { name, lost });
  };
  return { ...level('stop_loss'), ...level('take_profit') };
}

/** stop_loss {enabled, trigger_price_percent}, take_profit {enabled, steps: [{price_percent, volume_percent}]}. */
export function ofThreeCommas(said: ForeignFields, lost: string[], order: OwnFields | null): OwnFields {
  if (order === null) return {};
  const stop = said.takeFields('stop_loss');
  const target = said.takeFields('take_profit');
  return { ...(isOn(stop) && stopOfBot(stop, lost)), ...(isOn(target) && targetOfBot(target, lost)) };
}

/** `{"enabled": false}` asks for nothing; `{"enabled": true}` for what the bot's settings say. */
function isOn(said: ForeignFields): boolean {
  const enabled = said.take('enabled');
  return enabled !== 'false' && (enabled !== null || !said.isEmpty);
}

function stopOfBot(stop: ForeignFields, lost: string[]): OwnFields {
  if (plain(stop.take('order_type')) === 'limit') lost.push(without('stop_loss', AT_THE_MARKET));
  if (isTrailing(stop)) lost.push(lostLevel('trailing', FROM_WHERE));
  const level = oneLevel(stop, { trigger_price_percent: 'percent' }) ?? 'unclear';
  lost.push(...stop.left());
  return placed('stop_loss', level, { name: 'stop_loss', lost });
}

function targetOfBot(target: ForeignFields, lost: string[]): OwnFields {
  const steps = target.takeList('steps').map((step) => {
    const isAtTheMarket = plain(step.take('order_type')) === 'market';
    const isTrailed = isTrailing(step);
    const at = oneLevel(step, { price_percent: 'percent' });
    const percent = amount(step.take('volume_percent'));
    return { at, percent, isAtTheMarket, isTrailed, left: step.left() };
  });
  if (steps.some(({ isAtTheMarket }) => isAtTheMarket)) lost.push(without('take_profit', A_LIMIT));
  if (steps.some(({ isTrailed }) => isTrailed)) lost.push(lostLevel('trailing', FROM_WHERE));
  lost.push(...target.left(), ...steps.flatMap(({ left }) => left));
  const isClear = steps.every(({ at, percent }) => at !== null && at !== 'unclear' && percent !== null);
  if (!isClear || steps.length === 0 || target.odd !== null)
    return placed('take_profit', 'unclear', { name: 'take_profit', lost });
  if (steps.length > MOST_TARGETS) {
    lost.push(lostLevel('take_profit', `a position has ${MOST_TARGETS} targets at most here.`));
    return {};
  }
  const [only] = steps;
  if (steps.length === 1 && only?.percent === 100) return { take_profit: only.at };
  return { take_profit: steps.map(({ at, percent }) => ({ at, percent })) };
}

const isTrailing = (said: ForeignFields): boolean => said.takeFields('trailing').take('enabled') === 'true';

const FROM_WHERE = 'it does not say for certain from where it follows.';
const A_LIMIT = 'a target is a limit order here: it fills at its price or better.';

/** Of a stop order (SL, SL-M): trigger_price; whatever it closes at is the market's. */
export function ofOpenAlgo(said: ForeignFields, lost: string[], order: OwnFields | null): OwnFields {
  if (order?.action !== 'protect') return {};
  if (amount(said.take('price')) !== null) lost.push(without('price', AT_THE_MARKET));
  const level = oneLevel(said, { trigger_price: 'price' }) ?? 'unclear';
  return placed('stop_loss', level, { name: 'trigger_price', lost });
}

/** What its numbers count is a setting of the terminal, and is never guessed. */
export function ofPineConnector(said: ForeignFields, lost: string[]): OwnFields {
  for (const name of ['sl', 'tp'])
    if (said.take(name) !== null) lost.push(lostLevel(name, 'what it counts is a setting of the terminal.'));
  return {};
}

/**
 * loss and profit, in ticks from the entry; trail_offset, in ticks, once the price is trail_points ticks, or at trail_price, in
 * profit.
 */
export function ofPine(said: ForeignFields, lost: string[], order: OwnFields | null): OwnFields {
  if (order === null) return {};
  const distance = oneLevel(said, { trail_offset: 'ticks' });
  const activateAt = oneLevel(said, { trail_points: 'ticks', trail_price: 'price' });
  const isTrail = [distance, activateAt].every((level) => level !== null && level !== 'unclear');
  if (!isTrail && (distance !== null || activateAt !== null)) lost.push(lostLevel('trail_offset', A_TRAIL));
  const ticks = (name: 'loss' | 'profit', ours: 'stop_loss' | 'take_profit') => {
    const level = oneLevel(said, { [name]: 'ticks' });
    // Where it stands beside ours, nobody knows which is meant.
    return placed(ours, level !== null && order[ours] !== undefined ? 'unclear' : level, { name, lost });
  };
  return {
    ...ticks('loss', 'stop_loss'),
    ...ticks('profit', 'take_profit'),
    ...(isTrail && { trailing_stop: { distance, activate_at: activateAt } }),
  };
}

const A_TRAIL =
  'a script’s trailing stop has trail_offset and one of trail_points and trail_price, each above zero.';
