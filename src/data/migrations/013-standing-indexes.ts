// By what the overview, a search and an order's story are found. Large tables, in which the processes of the old version go
// on writing meanwhile: each statement stands for itself, and does nothing where it was done already.

export const standingIndexes = `
create index {concurrently} if not exists audit_logs_of_orders on audit_logs (resource_id, id) where resource_type = 'order';
create index {concurrently} if not exists order_legs_by_broker_ref on order_legs (broker_ref) where broker_ref is not null;
`;
