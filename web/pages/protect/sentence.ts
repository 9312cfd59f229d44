// What a change of a position's protection does, in a sentence that follows each key, and on the button.

import { counted, figure } from '../../parts/numbers.ts';
import {
  type Asked,
  changeOf,
  evenPriceOf,
  type Sent,
  stopPriceOf,
  timeOf,
} from '../../parts/protection/asked.ts';
import { type Ground, isGiven, type LevelText, priceOf } from '../../parts/protection/levels.ts';
import { type Holding, plainMoney, shareInWords, wonAt } from '../../parts/protection/money.ts';

export interface Change {
  readonly symbol: string;
  readonly holding: Holding;
  readonly ground: Ground;
  readonly before: Asked;
  readonly asked: Asked;
  /** The stop is wanted, and does not stand: nothing limits what can be lost. */
  readonly isMissing?: boolean;
}

export interface Sentence {
  /** Plain words and those that stand out, in turn. */
  readonly words: readonly (string | { readonly strong: string })[];
  /** More would be at risk than before. */
  readonly isLooser: boolean;
}

/** What is lost at this stop; below zero: so much is won all the same. null: not known. */
const riskAt = (holding: Holding, price: number | null): number | null => {
  const won = price === null ? null : wonAt(holding, price);
  return won === null ? null : -won || 0;
};

export function sentenceOf(change: Change): Sentence {
  const { symbol, holding, ground, before, asked, isMissing = false } = change;
  const sent = changeOf(asked, before);
  const what = `${figure(Math.abs(holding.quantity))} ${symbol}`;
  const [from, to] = [stopPriceOf(before, ground), stopPriceOf(asked, ground)];
  const stop = stopWords(what, from, to, holding, isMissing);
  const others = otherWords(change, sent);
  if (Object.keys(sent).length === 0)
    return { words: standsWords(what, from, holding, isMissing), isLooser: false };
  const words =
    stop.words.length > 0 && others.length > 0 ? [...stop.words, ' ', ...others] : [...stop.words, ...others];
  return { words, isLooser: stop.isLooser };
}

function standsWords(
  what: string,
  at: number | null,
  holding: Holding,
  isMissing: boolean,
): Sentence['words'] {
  if (at === null) return [`${what}: no stop. `, { strong: 'What it can lose is not limited.' }];
  if (isMissing)
    return [
      `The stop of ${what} is wanted at ${figure(at)}, and does not stand. `,
      { strong: 'What it can lose is not limited.' },
    ];
  const risk = riskAt(holding, at);
  return [
    `The stop of ${what} is at `,
    { strong: figure(at) },
    ...(risk === null ? ['.'] : [': ', { strong: riskWords(risk, holding.currency) }, '.']),
  ];
}

function stopWords(
  what: string,
  from: number | null,
  to: number | null,
  holding: Holding,
  isMissing: boolean,
): Sentence {
  if (from === to) return { words: [], isLooser: false };
  const { currency } = holding;
  if (to === null)
    return {
      words: [
        `Removes the stop of ${what} at ${figure(from as number)}: `,
        { strong: 'what it can lose is no longer limited.' },
      ],
      isLooser: true,
    };
  const [was, will] = [riskAt(holding, from), riskAt(holding, to)];
  // What does not stand is not loosened.
  const isLooser = from !== null && !isMissing && (holding.quantity > 0 ? to < from : to > from);
  const risk: Sentence['words'] =
    will === null
      ? ['.']
      : [
          ': ',
          { strong: riskWords(will, currency) },
          was === null || isMissing ? '' : ` instead of ${insteadWords(was, will)}`,
          isLooser ? (will > 0 ? ', more at risk than now.' : ', less than now.') : '.',
        ];
  const leads =
    from !== null && isMissing
      ? [`Tries the stop of ${what} at `, { strong: figure(to) }, `, not at ${figure(from)}`]
      : from === null
        ? [`Sets the stop of ${what} at `, { strong: figure(to) }]
        : [`Moves the stop of ${what} from ${figure(from)} to `, { strong: figure(to) }];
  return { words: [...leads, ...risk], isLooser };
}

const riskWords = (risk: number, currency: string | null): string => {
  const unit = currency ? ` ${currency}` : '';
  if (risk === 0) return 'nothing at risk';
  return risk > 0 ? `${plainMoney(risk)}${unit} at risk` : `${plainMoney(risk)}${unit} won`;
};

/** The unit was said just before, and the word where both are of one kind. */
function insteadWords(was: number, will: number): string {
  if (was === 0) return 'nothing';
  const isSame = was > 0 === will > 0 || will === 0;
  if (isSame) return plainMoney(was);
  return `${plainMoney(was)} ${was > 0 ? 'at risk' : 'won'}`;
}

function otherWords({ asked, ground }: Change, sent: Sent): string[] {
  const words: string[] = [];
  if (sent.take_profit === 'none') words.push('Removes the targets.');
  else if (sent.take_profit !== undefined) words.push(targetsWords(asked, ground));
  if (sent.trailing_stop === 'none') words.push('The stop no longer trails.');
  else if (sent.trailing_stop !== undefined) words.push(trailWords(asked));
  if (sent.break_even !== undefined && sent.break_even !== 'none') words.push(evenWords(asked, ground));
  if (sent.break_even === 'none' && sent.stop_loss !== 'none') words.push('It no longer goes to break even.');
  if (sent.time_stop === 'none') words.push('It is no longer closed by the clock.');
  else if (sent.time_stop !== undefined) words.push(timeWords(asked.time));
  return words.length === 0 ? [] : [words.join(' ')];
}

function trailWords({ trail, trailFrom }: Asked): string {
  const from = isGiven(trailFrom) ? `, once the price was at ${typedLevel(trailFrom)}` : '';
  return `The stop trails by ${typedLevel(trail)}${from}.`;
}

function evenWords(asked: Asked, ground: Ground): string {
  const { when, at, offset } = asked.breakEven;
  const to = offset.trim() === '' ? null : evenPriceOf(asked, ground);
  const where = to === null ? 'the entry' : `${figure(to)}, beyond the entry`;
  return when === 'tp1'
    ? `At target 1 the stop goes to ${where}.`
    : `Once the price was at ${typedLevel(at)}, the stop goes to ${where}.`;
}

const typedLevel = ({ text, unit }: LevelText): string =>
  `${unit === 'price' ? figure(Number(text)) : text.trim()}${UNITS[unit]}`;
const UNITS = { price: '', percent: ' %', ticks: ' ticks', points: ' points' } as const;

function targetsWords({ targets }: Asked, ground: Ground): string {
  const given = targets.filter(({ at }) => isGiven(at));
  const each = given.map(({ at, percent }) => {
    const price = priceOf(at, 'target', ground);
    return `${shareInWords(Number(percent))} at ${price === null ? at.text : figure(price)}`;
  });
  return `Takes profit: ${each.join(', ')}.`;
}

function timeWords(text: string): string {
  const time = timeOf(text);
  return typeof time === 'string' ? `Closes at ${time}.` : `Closes ${text.trim()} after the first fill.`;
}

/** The change on its button; null: there is none. */
export function buttonWords(change: Change): string | null {
  const { asked, before, ground } = change;
  const sent = changeOf(asked, before);
  const names = Object.keys(sent);
  if (names.length === 0) return null;
  const isStop = names.every(
    (name) => name === 'stop_loss' || (name === 'break_even' && sent.break_even === 'none'),
  );
  const to = stopPriceOf(asked, ground);
  if (isStop && to === null) return 'Remove the stop';
  if (isStop && to !== null)
    return stopPriceOf(before, ground) === null || change.isMissing
      ? `Set the stop at ${figure(to)}`
      : `Move the stop to ${figure(to)}`;
  if (names.length === 1 && sent.take_profit !== undefined) {
    const given = asked.targets.filter(({ at }) => isGiven(at));
    return given.length === 0 ? 'Remove the targets' : `Set ${counted(given.length, 'target')}`;
  }
  if (names.length === 1 && sent.trailing_stop !== undefined)
    return sent.trailing_stop === 'none' ? 'Stop trailing' : 'Let the stop trail';
  if (names.length === 1 && sent.time_stop !== undefined)
    return sent.time_stop === 'none' ? 'Remove the close by the clock' : 'Close it by the clock';
  return 'Change what protects it';
}

/** It would leave the position without a stop. */
export const removesStop = ({ asked, before, ground }: Change): boolean =>
  stopPriceOf(before, ground) !== null && !isGiven(asked.stop) && !isGiven(asked.trail);
