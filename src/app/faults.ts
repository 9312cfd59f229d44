// The faults that the outside is told apart from a bug: a part that does not answer.

export { DatabaseUnavailable } from '../data/db.ts';
export { StoreUnavailable } from '../store/store.ts';
