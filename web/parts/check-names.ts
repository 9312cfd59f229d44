// The webhook's checks, by the names that the pages have for them.

import type { Schemas } from '../api/client.ts';

export const CHECK_NAMES: Readonly<Record<Schemas['CheckVerdict']['check'], string>> = {
  size: 'Size',
  token: 'Token',
  user: 'User',
  rate: 'Rate',
  ip: 'Address',
  certificate: 'Certificate',
  payload: 'Payload',
  symbol: 'Symbol',
  age: 'Age',
  secret: 'Secret',
  replay: 'Replay',
  halt: 'Halt',
  plan: 'Plan',
  terms: 'Terms',
  credentials: 'Credentials',
  daily_limit: 'Daily limit',
  worker: 'Worker',
};
