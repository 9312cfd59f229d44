// What lists and pruning look for, they find by an index; what is done is in none that is asked every second. Large tables,
// in which others go on writing meanwhile: each statement stands for itself, and does no harm where it was done already.

export const indexes = `
-- Each ends with the order of the list: see data/orders/list.ts.
create index {concurrently} if not exists order_history_by_time on order_history (user_id, submitted_at, order_id);
create index {concurrently} if not exists order_history_by_status on order_history (user_id, status, submitted_at, order_id);
create index {concurrently} if not exists order_history_by_symbol on order_history (user_id, symbol, submitted_at, order_id);
create index {concurrently} if not exists order_history_by_account on order_history (user_id, trading_account_id, submitted_at, order_id);
create index {concurrently} if not exists order_history_by_source on order_history (user_id, source, simulation, submitted_at, order_id);
drop index {concurrently} if exists order_history_by_user;
-- With all that is asked of them, so that no longer one is read in their place. While they are built anew, those above serve.
drop index {concurrently} if exists order_history_under_way;
create index {concurrently} if not exists order_history_under_way on order_history (user_id, trading_account_id, submitted_at, order_id, status)
  where status in ('queued', 'executing');
drop index {concurrently} if exists order_history_unsettled;
create index {concurrently} if not exists order_history_unsettled on order_history (trading_account_id, user_id) where unsettled = true;

create index {concurrently} if not exists fill_checks_open on fill_checks (state, next_at, order_id) where state <> 'done';
create index {concurrently} if not exists fill_checks_open_of_user on fill_checks (user_id, state, next_at, order_id) where state <> 'done';
drop index {concurrently} if exists fill_checks_due;
drop index {concurrently} if exists fill_checks_by_user;

create index {concurrently} if not exists refresh_tokens_by_expiry on refresh_tokens (expires_at);
create index {concurrently} if not exists password_resets_by_expiry on password_resets (expires_at);
create index {concurrently} if not exists idempotency_keys_by_time on idempotency_keys (created_at);
-- an order is deleted only when no key is left that answers with it
create index {concurrently} if not exists idempotency_keys_by_order on idempotency_keys (order_id);
create index {concurrently} if not exists daily_order_counts_by_day on daily_order_counts (day);
create index {concurrently} if not exists api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;

-- what retention has done since the first start
create table if not exists pruned (
  what text primary key,
  row_count {bigint} not null,
  last_at {time} not null
);
`;
