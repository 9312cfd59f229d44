// A placeholder that the platform did not fill in: as a field's value, and where it makes the body no JSON.

import { placeIn } from './json.ts';

/** What the platform writes where it has no value for a placeholder, and what it leaves where it does not know it. */
const UNFILLED = /\{\{[^{}]*\}\}|^(?:NaN|na)$/;

export const isUnfilled = (value: string): boolean => UNFILLED.test(value);

/** What to do about it: the platform fills in what the alert's own kind has, and leaves the rest as it stands. */
const fillIn = (value: string): string =>
  value.includes('strategy.')
    ? 'An alert of an indicator, or a plain price alert, has no strategy.* values: make the alert on the strategy itself, or write the value.'
    : 'Use a placeholder that this kind of alert has, or write the value itself.';

export const notFilledIn = (name: string, value: string, place = '') => ({
  problem: `"${name}" is ${value.slice(0, 80)}${place}: the platform did not fill it in. ${fillIn(value)}`,
});

/** One with quotes of its own, as {{plot("qty")}}: they end a text around it. */
const QUOTING = String.raw`\{\{[^{}"\\]{0,80}\("[^{}\\]{0,80}"\)\s{0,8}\}\}`;
/** Where a placeholder stands as it is, outside of quotes or with its own, the body is not JSON. Every part has a bound. */
const UNFILLED_FIELD = new RegExp(
  String.raw`"([^"\\]{1,64})"\s*:\s*(?:(\{\{[^{}"\\]{0,80}\}\}|${QUOTING}|NaN\b|na\b)|"[^"\\]{0,256}?(${QUOTING}))`,
  'd',
);
const UNFILLED_ALONE = new RegExp(String.raw`\{\{[\w.$ -]{1,80}\}\}|${QUOTING}`, 'g');

/** `at`: where the body stops being JSON. */
export function unfilledIn(text: string, at = -1): string | null {
  const field = UNFILLED_FIELD.exec(text);
  if (field) {
    const [, name = '', alone, value = alone ?? ''] = field;
    const [start] = field.indices?.[alone === undefined ? 3 : 2] ?? [0];
    return notFilledIn(name, value, ` at ${placeIn(text, start)}`).problem;
  }
  for (const { 0: value, index } of text.matchAll(UNFILLED_ALONE))
    if (index <= at && at < index + value.length)
      return `The body is not valid JSON: at ${placeIn(text, index)} there is ${value}, which the platform did not fill in. ${fillIn(value)}`;
  return null;
}
