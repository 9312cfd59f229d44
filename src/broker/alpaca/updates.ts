// Alpaca's stream of what happens to orders. Its library has a client for it too, which opens itself again and keeps what it has
// heard: both are ours to do.

import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import type { Keys } from '../keys.ts';
import type { Said, Talk } from '../stream.ts';
import { jsonOf } from '../wire.ts';

const Update = Type.Object({
  stream: Type.Literal('trade_updates'),
  data: Type.Object({
    order: Type.Object({ id: Type.String(), client_order_id: Type.String() }),
  }),
});
const Authorization = Type.Object({
  stream: Type.Literal('authorization'),
  data: Type.Object({ status: Type.String() }),
});
const Listening = Type.Object({
  stream: Type.Literal('listening'),
  data: Type.Object({ streams: Type.Array(Type.String()) }),
});
const MESSAGE = Compile(Type.Union([Update, Authorization, Listening]));

export const updatesOf = ({ apiKey, apiSecret }: Keys): Pick<Talk, 'title' | 'words' | 'read' | 'ping'> => ({
  title: 'Alpaca',
  words: [
    () => ({ action: 'authenticate', data: { key_id: apiKey, secret_key: apiSecret } }),
    () => ({ action: 'listen', data: { streams: [STREAM] } }),
  ],
  read: (text) => readMessage(jsonOf(text)),
  ping: () => null,
});

const STREAM = 'trade_updates';

function readMessage(message: unknown): Said | undefined {
  if (!MESSAGE.Check(message)) return undefined;
  const told: Static<typeof Update> | Static<typeof Authorization> | Static<typeof Listening> = message;
  switch (told.stream) {
    case 'authorization':
      return told.data.status === 'authorized' ? { agreed: true } : { refused: 'authorization' };
    case 'listening':
      return told.data.streams.includes(STREAM) ? { agreed: true } : { refused: 'listening' };
    case 'trade_updates': {
      const { id, client_order_id } = told.data.order;
      return { orders: [{ clientOrderId: client_order_id, brokerRef: id }] };
    }
  }
}
