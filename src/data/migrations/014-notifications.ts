// Notifications beside mail: where users are told, what they are told of, and how far we are in telling.

export const notifications = `
create table notification_destinations (
  id {uuid} primary key,
  user_id {uuid} not null references users (id),
  -- telegram, discord, slack, webhook
  kind text not null,
  name text not null,
  -- what it is known by where it is shown: a host, a chat
  shown_as text not null,
  -- AES-256-GCM under APP_KEY: JSON, by kind
  sealed_address text not null,
  -- JSON array of strings
  events {json} not null,
  -- JSON array of ids; null: of all
  account_ids {json},
  -- of the day in UTC
  summary_hour integer not null,
  next_summary_at {time},
  created_at {time} not null,
  -- what was before is not told
  listens_since {time} not null,
  -- every attempt compares and sets it: one process at a time sends to a destination
  version integer not null,
  -- nothing is sent before: somebody is at it, or it failed
  wait_until {time},
  -- in a row
  failures integer not null,
  failing_since {time},
  working_since {time},
  last_success_at {time},
  last_error text,
  paused_at {time},
  dead_since {time},
  -- its owner was told by mail
  dead_mailed {boolean} not null,
  -- messages for which there was no room
  dropped integer not null
);
create index notification_destinations_by_user on notification_destinations (user_id, id);
create index notification_destinations_summaries on notification_destinations (next_summary_at)
  where next_summary_at is not null;
create index notification_destinations_dead on notification_destinations (dead_since)
  where dead_since is not null;

-- No reference to the destination: one that is removed takes its messages along, and one that comes at that moment is pruned.
create table notification_deliveries (
  id {uuid} primary key,
  destination_id {uuid} not null,
  event text not null,
  -- JSON object: the message
  message {json} not null,
  created_at {time} not null,
  -- not before
  due_at {time} not null,
  attempts integer not null,
  -- pending, delivered, given_up
  outcome text not null,
  ended_at {time},
  last_error text,
  -- the kind and minute of those that were folded into one; how many they are
  fold text,
  folded integer not null,
  unique (destination_id, fold)
);
create index notification_deliveries_pending on notification_deliveries (due_at) where outcome = 'pending';
create index notification_deliveries_by_destination on notification_deliveries (destination_id, id);
create index notification_deliveries_by_age on notification_deliveries (created_at);

-- orders of users with destinations, until they have ended: what was told of each
create table notification_orders (
  order_id {uuid} primary key,
  user_id {uuid} not null,
  version integer not null,
  status text not null,
  dead_letter {boolean} not null,
  since {time} not null
);

-- what is told once, by what it is
create table notification_marks (
  mark text primary key,
  made_at {time} not null
);
create index notification_marks_by_age on notification_marks (made_at);

-- up to which place in the audit log's chain events were made
create table notification_cursor (
  name text primary key,
  position {bigint} not null
);
`;
