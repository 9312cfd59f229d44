// Every broker there is, by name.

export const BROKER_NAMES = ['paper'] as const;
export type BrokerName = (typeof BROKER_NAMES)[number];

/** Where orders are the user's own at a real broker, credentials must be verified before the first of them. */
export const NEEDS_CREDENTIALS: Readonly<Record<BrokerName, boolean>> = { paper: false };
