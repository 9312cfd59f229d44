// What is known of the day on which everything that opened a user's doors was ended, and what is left to be done about it.

export const afterTheft = `
-- null: never. What was proven by a device before no longer counts
alter table users add column secured_at {time};
-- password_reset, logout_everywhere, administrator, restore
alter table users add column secured_because text;
-- since when somebody else may have been in
alter table users add column exposed_since {time};
-- as above: until its owner confirms it, nothing is sent there; null: nobody but its owner paused it
alter table notification_destinations add column paused_because text;
-- null: as old as the account
alter table trading_accounts add column secret_made_at {time};
alter table trading_accounts add column token_made_at {time};
`;
