// Which way something is traded, and which way something is held.

export type Side = 'buy' | 'sell';
export type Direction = 'long' | 'short';
