// Groups: one signal for several accounts.

export const groups = `
create table trading_groups (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  name text not null,
  webhook_token text not null unique,
  -- encrypted under APP_KEY
  webhook_secret text not null,
  max_request_age integer not null,
  enabled {boolean} not null,
  -- grows with every change of what a signal is checked against
  revision integer not null,
  -- of the secret and of the token; null: with the group
  secret_made_at {time},
  token_made_at {time},
  created_at {time} not null
);
create index trading_groups_of_user on trading_groups (user_id, id);

create table group_members (
  group_id {uuid} not null references trading_groups (id),
  trading_account_id {uuid} not null references trading_accounts (id),
  -- in the group's own order
  position integer not null,
  factor {decimal} not null,
  -- as JSON: as an alert calls them, and as the account's broker does
  symbols text not null,
  enabled {boolean} not null,
  primary key (group_id, trading_account_id)
);
create index groups_of_account on group_members (trading_account_id);

-- which group's signal it came from
alter table order_history add column group_id {uuid};
alter table signals add column group_id {uuid};
-- of a group's real signal: it is taken once
alter table signals add column fingerprint text;

-- what became of a group's signal at each of its members
create table signal_members (
  signal_id {uuid} not null references signals (id) on delete cascade,
  position integer not null,
  trading_account_id {uuid} not null references trading_accounts (id),
  arrived_at {time} not null,
  simulation {boolean} not null,
  order_id {uuid},
  -- why it was refused
  code text,
  detail text,
  primary key (signal_id, position)
);
create index signals_of_member on signal_members (trading_account_id, arrived_at);
create index signal_of_member_order on signal_members (order_id) where order_id is not null;
`;
