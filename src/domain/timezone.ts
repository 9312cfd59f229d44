// Names of zones, as the platform knows them.

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // Offsets are no places: they know of no daylight saving.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

const QUARTER_MS = 900_000;

/** The day and the hour of a time there. Zones change their offset on a quarter of an hour, and are asked once for each. */
export function clockOf(zone: string): (ms: number) => { readonly day: string; readonly hour: number } {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      hourCycle: 'h23',
    },
  });
  const known = new Map<number, { readonly day: string; readonly hour: number }>();
  return (ms) => {
    const quarter = Math.floor(ms / QUARTER_MS);
    const found = known.get(quarter);
    if (found) return found;
    const parts = new Map(format.formatToParts(quarter * QUARTER_MS).map(({ type, value }) => [type, value]));
    const told = {
      day: `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`,
      hour: Number(parts.get('hour')),
    };
    known.set(quarter, told);
    return told;
  };
}
