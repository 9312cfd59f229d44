// The audit log's seals in a table of their own: appended, never changed. An entry's row is written once.

export const seals = `
create table audit_seals (
  -- the place in the chain
  position {bigint} primary key,
  entry_id {bigint} not null,
  hash text not null
);
create unique index audit_seals_by_entry on audit_seals (entry_id);

-- every entry up to this id is sealed, and none that comes later stands before it
alter table audit_chain add column sealed_up_to {bigint} not null default 0;

-- where the chain begins after its beginning was pruned; the mac is ours, under the key of the chain
create table audit_checkpoints (
  position {bigint} primary key,
  hash text not null,
  mac text not null,
  made_at {time} not null
);

-- Whatever was done to the seals of before: it is for the verification to find it, and not for this to fail.
insert into audit_seals (position, entry_id, hash)
  select chain_position, id, coalesce(chain_hash, '') from audit_logs where chain_position is not null
  on conflict do nothing;
insert into audit_chain (name, entries, hash, sealed_up_to)
  select 'audit_seals', entries, hash, coalesce(
    (select min(id) - 1 from audit_logs where chain_position is null), (select max(id) from audit_logs), 0)
  from audit_chain where name = 'audit_logs';

-- The columns stay, and an older version beside this one goes on with a chain of its own in them; nobody reads it.
drop index audit_logs_chain;
drop index audit_logs_unsealed;
`;
