// By what the signals of all of a user's groups are found, newest first.

export const groupLists = `
create index {concurrently} if not exists signals_of_groups on signals (user_id, arrived_at, id) where group_id is not null;
`;
