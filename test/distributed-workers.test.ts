import { onRealServers } from './distributed.ts';

await onRealServers(['workers', 'recovery', 'reconnect']);
