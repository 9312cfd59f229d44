// What strategies say of their own position, and how an account takes it.

export const strategies = `
-- what a signal said besides what it asked for; null: nothing
alter table order_history add column notes {json};

-- hold: what the strategy holds and the account does not is opened only in the direction of the action; follow: always
alter table trading_accounts add column out_of_sync text not null default 'hold';

-- what holds entries back; null: nothing does
alter table trading_accounts add column guards {json};

-- what they said of an order's entry
alter table order_history add column guards {json};

-- at the day's first order that a guard asked it for
create table day_equity (
  trading_account_id {uuid} not null references trading_accounts (id),
  simulation {boolean} not null,
  day text not null,
  equity {decimal} not null,
  primary key (trading_account_id, simulation, day)
);

-- seconds without a genuine signal after which the owner is told; null: never
alter table trading_accounts add column silence_after integer;
alter table trading_accounts add column silence_told_at {time};

-- what an owner is to be told of, written with what it is about and sent afterwards
create table notices (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  trading_account_id {uuid} not null references trading_accounts (id),
  kind text not null,
  detail text not null,
  created_at {time} not null,
  attempts integer not null,
  -- null: it was told, or given up
  next_at {time}
);
create index notices_due on notices (next_at) where next_at is not null;
create index notices_by_time on notices (created_at);

-- every arrival at a user's webhooks; what became of an order stands with the order
create table signals (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  trading_account_id {uuid} not null references trading_accounts (id),
  arrived_at {time} not null,
  simulation {boolean} not null,
  symbol text,
  action text,
  quantity {decimal},
  outcome text not null,
  code text,
  detail text,
  refused_by text,
  order_id {uuid},
  total_ms integer,
  ip_address text not null,
  -- as received, the secret masked; null: too large, or no longer kept
  message text,
  understood {json},
  ignored {json}
);
create index signals_by_time on signals (user_id, arrived_at, id);
create index signals_by_account on signals (user_id, trading_account_id, arrived_at, id);
create index signals_by_outcome on signals (user_id, outcome, arrived_at, id);
create index signals_by_code on signals (user_id, code, arrived_at, id);
create index signals_by_symbol on signals (user_id, symbol, arrived_at, id);
-- what is pruned: refused ones after a time, those of orders with their orders
create index signals_without_order on signals (arrived_at) where order_id is null;
create index signals_of_orders on signals (order_id) where order_id is not null;

-- the last genuine word, per account, symbol (in its canonical form) and mode; the later one by the strategy's own time
create table strategy_positions (
  trading_account_id {uuid} not null references trading_accounts (id),
  symbol text not null,
  simulation {boolean} not null,
  version integer not null,
  said_at {time} not null,
  arrived_at {time} not null,
  side text,
  size {decimal},
  before_side text,
  before_size {decimal},
  -- of the signal that said it
  fingerprint text,
  -- since when the broker's position is another one; null: it was the same when it was last compared
  drift_since {time},
  primary key (trading_account_id, symbol, simulation)
);
`;
