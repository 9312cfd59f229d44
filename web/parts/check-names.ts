// The webhook's checks, by the names that the pages have for them.

import type { Schemas } from '../api/client.ts';

export const CHECK_NAMES: Readonly<Record<Schemas['CheckVerdict']['check'], string>> = {
  size: 'Size',
  token: 'Webhook',
  user: 'User',
  rate: 'Rate',
  ip: 'Address',
  certificate: 'Certificate',
  payload: 'Message',
  symbol: 'Symbol',
  age: 'Age',
  secret: 'Secret',
  replay: 'Repeat',
  halt: 'Halt',
  plan: 'Plan',
  terms: 'Terms',
  credentials: 'Credentials',
  daily_limit: 'Daily limit',
  worker: 'Worker',
};
