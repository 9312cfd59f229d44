import { onRealServers } from './distributed.ts';

await onRealServers(['identity/addresses', 'identity/tries']);
