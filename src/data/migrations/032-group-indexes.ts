// By what a group's signals are found, and by what one is taken once.

export const groupIndexes = `
create unique index {concurrently} if not exists signals_taken_once on signals (group_id, fingerprint) where group_id is not null and fingerprint is not null;
create index {concurrently} if not exists signals_by_group on signals (user_id, group_id, arrived_at, id) where group_id is not null;
`;
