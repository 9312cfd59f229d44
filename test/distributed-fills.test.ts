import { onRealServers } from './distributed.ts';

await onRealServers(['fill-verification', 'fill-queue', 'reversal', 'order-outcomes', 'simulation']);
