import { onRealServers } from './distributed.ts';

await onRealServers(['notify/events', 'notify/delivering', 'notify/destinations']);
