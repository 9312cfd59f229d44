// The audit log's chain, and when each user was last alerted.

export const security = `
-- given when the entry is sealed, about a second after it was written: see app/audit-chain.ts
alter table audit_logs add column chain_position {bigint};
alter table audit_logs add column chain_hash text;
create unique index audit_logs_chain on audit_logs (chain_position);
create index audit_logs_unsealed on audit_logs (id) where chain_position is null;
create index audit_logs_by_action on audit_logs (user_id, action, id);

create table audit_chain (
  -- one row: the head
  name text primary key,
  entries {bigint} not null,
  hash text not null
);

create table alert_mails (
  user_id {uuid} primary key references users (id),
  last_at {time} not null
);
`;
