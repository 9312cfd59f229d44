// Every record of the spec, and what the order path needs around it. Types in {braces} differ by database: see
// migrate.ts. Times are RFC 3339 UTC, decimals exact, JSON stored and never queried.

export const records = `
create table users (
  id {uuid} primary key,
  email text not null unique,
  password_hash text not null,
  is_admin {boolean} not null,
  is_active {boolean} not null,
  plan text not null,
  plan_expires_at {time},
  terms_version text,
  terms_accepted_at {time},
  created_at {time} not null
);

create table terms (
  version text primary key,
  text text not null,
  published_at {time} not null
);

create table user_sessions (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  csrf_token text not null,
  ip_address text not null,
  user_agent text not null,
  created_at {time} not null,
  is_active {boolean} not null
);
create index user_sessions_by_user on user_sessions (user_id, created_at);

create table api_keys (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  name text not null,
  key_hash text not null unique,
  expires_at {time},
  last_used_at {time},
  created_at {time} not null,
  revoked_at {time}
);
create index api_keys_by_user on api_keys (user_id, created_at);

create table trading_accounts (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  name text not null,
  broker_name text not null,
  webhook_token text not null unique,
  -- AES-256-GCM under APP_KEY
  webhook_secret text not null,
  max_request_age integer not null,
  -- JSON array of strings
  allowed_symbols {json} not null,
  -- JWE sealed to the workers' key
  sealed_credentials text,
  broker_credentials_verified {boolean} not null,
  halted {boolean} not null,
  -- JSON object: the paper broker's settings
  paper {json},
  -- grows with every change that a worker's open connection must notice
  connection_version integer not null,
  created_at {time} not null,
  deleted_at {time}
);
create index trading_accounts_by_user on trading_accounts (user_id, created_at);

create table user_allowed_ips (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  -- an address or a CIDR block
  ip_address text not null,
  label text,
  created_at {time} not null,
  unique (user_id, ip_address)
);

create table audit_logs (
  id {serial},
  user_id {uuid} references users (id),
  action text not null,
  success {boolean} not null,
  ip_address text,
  user_agent text,
  request_path text,
  request_method text,
  error_message text,
  resource_type text,
  resource_id text,
  metadata {json} not null,
  created_at {time} not null
);
create index audit_logs_by_user on audit_logs (user_id, id);

create table order_history (
  order_id {uuid} primary key,
  -- every change compares and sets it
  version integer not null,
  user_id {uuid} not null references users (id),
  trading_account_id {uuid} not null references trading_accounts (id),
  broker_name text not null,
  source text not null,
  simulation {boolean} not null,
  symbol text not null,
  action text not null,
  order_type text,
  -- JSON object: operation and side or direction
  intent {json} not null,
  quantity {decimal} not null,
  status text not null,
  error {json},
  broker_refs {json} not null,
  submitted_at {time} not null,
  deadline_at {time} not null,
  fill_price {decimal},
  fill_quantity {decimal},
  filled_at {time},
  auto_exit {boolean} not null,
  exit_quantity {decimal},
  position_before {decimal},
  exit_order_result {json},
  trace {json} not null,
  -- of a real webhook order: a replay never trades, even if the store forgot
  fingerprint text,
  unique (trading_account_id, fingerprint)
);
create index order_history_by_user on order_history (user_id, order_id);
create index order_history_under_way on order_history (user_id, order_id) where status in ('queued', 'executing');

create table order_legs (
  order_id {uuid} not null references order_history (order_id),
  -- 'exit' is sent before 'entry'
  leg text not null,
  position integer not null,
  client_order_id text not null unique,
  broker_ref text,
  side text not null,
  quantity {decimal} not null,
  status text not null,
  fill_price {decimal},
  fill_quantity {decimal},
  sent_at {time},
  primary key (order_id, leg)
);

create table daily_order_counts (
  user_id {uuid} not null references users (id),
  day text not null,
  orders integer not null,
  primary key (user_id, day)
);

create table idempotency_keys (
  user_id {uuid} not null references users (id),
  idempotency_key text not null,
  body_hash text not null,
  order_id {uuid} not null references order_history (order_id),
  created_at {time} not null,
  primary key (user_id, idempotency_key)
);

create table fill_checks (
  order_id {uuid} primary key references order_history (order_id),
  user_id {uuid} not null references users (id),
  -- scheduled, running, done, dead_letter
  state text not null,
  attempts integer not null,
  next_at {time} not null,
  -- while running: when the check is freed if its verifier died
  visible_at {time},
  last_error text
);
create index fill_checks_due on fill_checks (state, next_at);
create index fill_checks_by_user on fill_checks (user_id, state, next_at);
-- ordered per user: one check of a user at a time
create unique index fill_checks_one_running on fill_checks (user_id) where state = 'running';

-- The paper broker's own ledger. It is a broker: nothing of ours refers to it, and it is written in units of its own.
create table paper_accounts (
  book text primary key,
  version integer not null,
  -- realised, less fees; the settings' starting cash comes on top
  profit {decimal} not null,
  -- JSON object: symbol → {quantity, cost}, both signed
  positions {json} not null
);

create table paper_orders (
  book text not null references paper_accounts (book),
  client_order_id text not null,
  broker_ref text not null,
  symbol text not null,
  side text not null,
  quantity {decimal} not null,
  reduce_only {boolean} not null,
  status text not null,
  fill_quantity {decimal} not null,
  fill_price {decimal},
  reason text,
  accepted_at {time} not null,
  updated_at {time} not null,
  primary key (book, client_order_id)
);
create index paper_orders_resting on paper_orders (book) where status in ('placed', 'partially_filled');
`;
