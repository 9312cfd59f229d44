import { onRealServers } from './distributed.ts';

await onRealServers(['accounts/groups', 'orders/groups']);
