// What real brokers need to be asked about an order, and what they tell of it.

export const brokers = `
-- live, or what else the account's broker offers; fixed at creation
alter table trading_accounts add column environment text not null default 'live';

-- grows with every change of the credentials
alter table trading_accounts add column credentials_version integer not null default 1;

-- the account's when a leg was sent: with other credentials "not found" decides nothing
alter table order_history add column credentials_version integer;

-- under way, or followed by fill verification: what a worker has to know of before it plans
alter table order_history add column unsettled {boolean} not null default {false};
update order_history set unsettled = {true}
  where status in ('queued', 'executing')
    or order_id in (select order_id from order_legs where status in ('sending', 'unknown', 'placed', 'partially_filled'));
create index order_history_unsettled on order_history (trading_account_id) where unsettled = {true};

-- the broker's own symbol, pinned when the leg is sent
alter table order_legs add column instrument text;
alter table order_legs add column fee {decimal};
alter table order_legs add column acked_at {time};
alter table order_legs add column filled_at {time};

-- null: accepted before fees were noted
alter table paper_orders add column fee {decimal};
`;
