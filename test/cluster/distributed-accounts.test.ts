import { onRealServers } from './distributed.ts';

await onRealServers(['accounts/sealed-secrets', 'orders/drift', 'orders/halt']);
