// What protects positions: where stops and targets are to stand, and what was done about them.

export const protections = `
create table protections (
  id {uuid} primary key,
  version integer not null,
  user_id {uuid} not null references users (id),
  trading_account_id {uuid} not null references trading_accounts (id),
  broker_name text not null,
  simulation {boolean} not null,
  -- as it was ordered
  symbol text not null,
  -- the broker's own name of it
  instrument text not null,
  -- long or short
  side text not null,
  state text not null,
  reason text,
  -- the order that set it last
  set_by {uuid} not null,
  -- orders whose wish is yet to be taken in, the first one first, with a space between them; null: none
  wanted_by text,
  -- stop, targets, trail, legs: what only the worker reads
  body {json},
  unprotected_since {time},
  unprotected_ms integer,
  seen_at {time},
  due_at {time},
  created_at {time} not null,
  ended_at {time}
);
-- one at most
create unique index protections_of_position on protections (trading_account_id, instrument, simulation, side) where ended_at is null;
-- whichever stood for a position, and when
create index protections_by_position on protections (trading_account_id, simulation, side, created_at);
-- those that are kept, of one user: few, however many have ended
create index protections_kept on protections (user_id, created_at, id) where ended_at is null;
create index protections_due on protections (due_at) where ended_at is null;
-- those that nobody looks after until their owner says so
create index protections_left on protections (trading_account_id, created_at, id) where state = 'left';
create index protections_of_user on protections (user_id, created_at, id);

-- what was done about one, in turn
create table protection_history (
  id {serial},
  protection_id {uuid} not null references protections (id),
  at {time} not null,
  what text not null,
  from_price {decimal},
  to_price {decimal},
  -- an order, or who else
  by_whom text
);
create index protection_history_of on protection_history (protection_id, id);

-- what an order asks to protect its position with
alter table order_history add column wish text;
-- of what a protection closed: why, and for which order
alter table order_history add column exit_reason text;
alter table order_history add column caused_by {uuid};
-- from its first fill until its stop was seen
alter table order_history add column unprotected_ms integer;

-- what protection has closed since the strategy was last flat, in turn, with a space between; "!" after it: nothing was left
alter table strategy_positions add column stopped text;

-- as JSON, by symbol: what an entry from flat is protected with that does not say
alter table trading_accounts add column protection_defaults text;
-- what is done where the broker refuses a stop: close, or alert
alter table trading_accounts add column unprotected text not null default 'close';
-- whose credentials were verified last: of the broker's own name of the account, hashed; null: not known
alter table trading_accounts add column broker_identity text;
-- which price a stop watches: last, or mark
alter table trading_accounts add column trigger_by text not null default 'last';
`;
