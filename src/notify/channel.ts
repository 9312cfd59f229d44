// The port to whoever tells users: one small way to send a message to a destination.

import type { Attempt, DestinationKind, Message } from '../domain/told/notification.ts';

/** Sealed at rest, and in no answer: whoever has them can write to the user. */
export interface Addresses {
  readonly telegram: { readonly botToken: string; readonly chatId: string };
  readonly discord: { readonly url: string };
  readonly slack: { readonly url: string };
  readonly webhook: { readonly url: string; readonly secret: string };
}

export type Address = {
  readonly [Kind in DestinationKind]: { readonly kind: Kind } & Addresses[Kind];
}[DestinationKind];

export interface Channels {
  /** Never throws: whatever goes wrong is an attempt that came to nothing, and never a word of the address in it. */
  send(address: Address, message: Message): Promise<Attempt>;
}
