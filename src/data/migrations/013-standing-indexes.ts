// By what the overview, a search and an order's story are found. Large tables, in which the processes of the old version go
// on writing meanwhile: each statement stands for itself, and does nothing where it was done already.

export const standingIndexes = `
create index {concurrently} if not exists audit_logs_of_orders on audit_logs (resource_id, id) where resource_type = 'order';
create index {concurrently} if not exists order_legs_by_broker_ref on order_legs (broker_ref) where broker_ref is not null;
-- A day is counted from the index alone; lists by time are read from it too.
create index {concurrently} if not exists order_history_by_day
  on order_history (user_id, submitted_at, order_id, trading_account_id, source, simulation, status);
drop index {concurrently} if exists order_history_by_time;
-- As data/orders/standing.ts and data/notifications/notices.ts ask for the last genuine one: word for word.
create index {concurrently} if not exists signals_genuine on signals (user_id, trading_account_id, arrived_at, id)
  where simulation = false
    and (outcome <> 'refused' or refused_by in ('halt', 'plan', 'terms', 'credentials', 'daily_limit', 'worker'));
`;
