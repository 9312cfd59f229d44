import { onRealServers } from './distributed.ts';

await onRealServers(['identity/after-theft']);
