import { onRealServers } from './distributed.ts';

await onRealServers(['worker/workers', 'worker/ownership', 'orders/recovery', 'worker/reconnect']);
