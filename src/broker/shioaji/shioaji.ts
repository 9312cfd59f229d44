import type { OpenBroker } from '../broker.ts';
export const openShioaji = (_: { url: string | undefined; clock: { now(): number } }): OpenBroker => {
  throw new Error('not yet');
};
