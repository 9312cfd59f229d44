import { onRealServers } from './distributed.ts';

// What else was sent is read from the database.
await onRealServers(['broker/shioaji-journey']);
