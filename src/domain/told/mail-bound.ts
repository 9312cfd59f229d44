// How many mails an address gets from us, besides alerts, which have a rule of their own.

const HOUR_MS = 3_600_000;
/** Older mails decide nothing. */
export const MAILS_LIFE_MS = 24 * HOUR_MS;
const MOST_MAILS = { anHour: 5, aDay: 20 } as const;

/** The times that decide from now on, this mail's among them; null: there were enough. */
export function withAnother(times: readonly number[], now: number): readonly number[] | null {
  const ofDay = times.filter((at) => at > now - MAILS_LIFE_MS);
  const ofHour = ofDay.filter((at) => at > now - HOUR_MS);
  return ofDay.length < MOST_MAILS.aDay && ofHour.length < MOST_MAILS.anHour ? [...ofDay, now] : null;
}
