import { onRealServers } from './distributed.ts';

await onRealServers([
  'accounts/refused-credentials',
  'accounts/sealed-secrets',
  'orders/drift',
  'orders/halt',
]);
