// What is written down of each broker's replies: their fields, learnt from the stubs and from replies that are known
// (`npm run known-fields`).

import { readFileSync } from 'node:fs';
import type { BrokerName } from '../../domain/brokers.ts';
import type { Known } from './fields.ts';

export const knownFields = (broker: Exclude<BrokerName, 'paper'>): Known =>
  JSON.parse(readFileSync(new URL(`./known/${broker}.json`, import.meta.url), 'utf8')) as Known;
