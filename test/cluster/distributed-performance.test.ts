import { onRealServers } from './distributed.ts';

await onRealServers([
  'orders/guards',
  'orders/performance',
  'orders/overview',
  'orders/look',
  'orders/search',
  'orders/signals',
  'orders/story',
]);
