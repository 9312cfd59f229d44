// What waits for a price in the paper broker's ledger: stops of its own, and orders with a limit.

export const paperStops = `
-- up to when prices were looked at for what waits for one; null: nothing does
alter table paper_accounts add column walked_to {time};
-- null: at the market
alter table paper_orders add column limit_price {decimal};
-- of another broker's market, while it rests there; null: of our own list
alter table paper_orders add column instrument {json};

create table paper_stops (
  book text not null references paper_accounts (book),
  client_order_id text not null,
  broker_ref text not null,
  symbol text not null,
  -- of the order that it becomes
  side text not null,
  -- null: all that is held when it triggers
  quantity {decimal},
  price {decimal} not null,
  -- last, mark
  trigger_by text not null,
  -- it stands beside the order of its id, and ends with it
  is_beside {boolean} not null,
  -- standing, triggered, cancelled, expired, rejected
  status text not null,
  -- what it became, in paper_orders
  order_id text,
  reason text,
  accepted_at {time} not null,
  updated_at {time} not null,
  primary key (book, client_order_id)
);
create index paper_stops_standing on paper_stops (book) where status = 'standing';
-- what is pruned
create index paper_stops_by_end on paper_stops (updated_at) where status <> 'standing';
`;
