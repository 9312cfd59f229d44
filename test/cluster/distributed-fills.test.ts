import { onRealServers } from './distributed.ts';

await onRealServers([
  'orders/fill-verification',
  'orders/fill-queue',
  'orders/reversal',
  'orders/order-outcomes',
  'orders/simulation',
]);
