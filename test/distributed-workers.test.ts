import { onRealServers } from './distributed.ts';

await onRealServers(['workers', 'ownership', 'recovery', 'reconnect']);
