// What login needs around user_sessions.

export const identity = `
create table refresh_tokens (
  -- SHA-256 of the token
  token_hash text primary key,
  session_id {uuid} not null references user_sessions (id),
  expires_at {time} not null,
  -- a token is used once; shown again, it tells of a theft or of two tabs
  used_at {time}
);
create index refresh_tokens_by_session on refresh_tokens (session_id);

create table password_resets (
  token_hash text primary key,
  user_id {uuid} not null references users (id),
  expires_at {time} not null,
  used_at {time}
);
create index password_resets_by_user on password_resets (user_id);

create table second_factors (
  user_id {uuid} primary key references users (id),
  -- AES-256-GCM under APP_KEY
  totp_secret text not null,
  created_at {time} not null,
  -- null: enrolled but not yet proven; login does not ask for it
  confirmed_at {time},
  -- the newest time step whose code was used; it and those before it are used up
  last_step integer not null
);

create table recovery_codes (
  code_hash text primary key,
  user_id {uuid} not null references users (id),
  used_at {time}
);
create index recovery_codes_by_user on recovery_codes (user_id);

-- What may happen once in the life of a deployment, such as the making of its first admin.
create table once (
  what text primary key,
  done_at {time} not null
);
`;
