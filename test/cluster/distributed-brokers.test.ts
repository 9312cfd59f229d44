import { onRealServers } from './distributed.ts';

// What else was sent is read from the database, and what a user may read in a minute is counted in the store.
await onRealServers(['broker/shioaji-journey', 'worker/broker-reads']);
