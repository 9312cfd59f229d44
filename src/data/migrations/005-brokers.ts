// What real brokers need to be asked about an order, and what they tell of it.

export const brokers = `
-- live, or what else the account's broker offers; fixed at creation
alter table trading_accounts add column environment text not null default 'live';

-- the account's when a leg was sent: over another connection "not found" decides nothing
alter table order_history add column connection_version integer;

-- the broker's own symbol, pinned when the leg is sent
alter table order_legs add column instrument text;
alter table order_legs add column fee {decimal};
alter table order_legs add column acked_at {time};
alter table order_legs add column filled_at {time};

-- null: accepted before fees were noted
alter table paper_orders add column fee {decimal};
`;
