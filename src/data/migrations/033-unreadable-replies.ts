// What brokers said and nobody could read: how often, by what was asked, and the last of it.

export const unreadableReplies = `
create table unreadable_counts (
  broker_name text not null,
  call_name text not null,
  times {bigint} not null,
  first_at {time} not null,
  last_at {time} not null,
  primary key (broker_name, call_name)
);

create table unreadable_replies (
  id {uuid} not null primary key,
  broker_name text not null,
  call_name text not null,
  -- of HTTP
  status integer not null,
  -- without secrets, and cut where it is long
  reply text not null,
  seen_at {time} not null
);
-- the last ones of a broker are kept
create index unreadable_replies_of_broker on unreadable_replies (broker_name, id);
`;
