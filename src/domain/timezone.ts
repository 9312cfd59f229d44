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
