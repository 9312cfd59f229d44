import { onRealServers } from './distributed.ts';

await onRealServers([
  'orders/guards',
  'orders/performance',
  'orders/trades',
  'orders/overview',
  'orders/look',
  'orders/search',
  'orders/signals',
  'orders/story',
]);
