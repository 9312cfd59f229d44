// How a user's things stand, as the overview tells it.

export const standing = `
-- when the broker last took the credentials, or refused them; null: it was not asked since they were stored
alter table trading_accounts add column credentials_checked_at {time};

-- what the broker said of the key when it was verified
alter table trading_accounts add column key_warnings {json};

-- since when the kill switch is on; null: it is off, or was turned on before this was noted
alter table trading_accounts add column halted_at {time};

-- what the account held when it was last found to be another position than the strategy's
alter table strategy_positions add column held {decimal};
`;
