import { onRealServers } from './distributed.ts';

await onRealServers(['cli/users', 'cli/trading']);
