// Addresses that were shown to be their users', and how many mails went to each.

export const addresses = `
-- those of before, and of a program from before, count as shown
alter table users add column email_verified {boolean} not null default {true};

-- a link that was mailed: whoever follows one first has the address
create table email_claims (
  token_hash text primary key,
  email text not null,
  -- who has the address then; not among the users yet, where somebody else registered it before
  user_id {uuid} not null,
  -- of those; null: a user's own
  password_hash text,
  terms_version text,
  expires_at {time} not null
);
create index email_claims_by_email on email_claims (email);
create index email_claims_by_expiry on email_claims (expires_at);

-- the times of the last day's mails to an address, as JSON in milliseconds
create table mailed (
  address_hash text primary key,
  times text not null,
  version integer not null,
  last_at {time} not null
);
create index mailed_by_time on mailed (last_at);
`;
