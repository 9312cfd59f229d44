// What a broker knows of an account beside its book: who holds its key, and what it is set to.

import type { AccountId } from '../src/domain/ids.ts';

export type MarginMode = 'cross' | 'isolated';

export interface Standing {
  readonly apiKey: string | null;
  readonly apiSecret: string;
  readonly passphrase: string;
  readonly permissions: readonly ('read' | 'trade' | 'withdraw')[];
  /** Where its key may be used from; null: anywhere. */
  readonly addresses: readonly string[] | null;
  readonly positionMode: 'one_way' | 'hedged';
  readonly accountType: 'unified' | 'classic';
  /** Of its positions. */
  readonly marginMode: MarginMode;
  /** What it holds besides, which is nothing that it lists to be traded, by its name on the wire; null: no such thing. */
  readonly stray: string | null;
  /** Its key is one of the demo's, where both are spoken to at one address. */
  readonly isDemo: boolean;
}

export interface Holder {
  readonly account: AccountId;
  readonly standing: Standing;
}

/** Of an account of which nobody said anything. */
export const UNKNOWN: Standing = {
  apiKey: null,
  apiSecret: '',
  passphrase: '',
  permissions: ['read', 'trade'],
  addresses: null,
  positionMode: 'one_way',
  accountType: 'unified',
  marginMode: 'cross',
  stray: null,
  isDemo: false,
};
