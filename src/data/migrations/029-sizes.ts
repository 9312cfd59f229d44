// How much an order trades, where its quantity counts something else than units, or is multiplied.

export const sizes = `
-- as JSON: what the quantity counts, and, once it is planned, how many units that is and by what
alter table order_history add column sizing text;

alter table trading_accounts add column quantity_multiplier {decimal} not null default '1';

-- how the account takes what the strategy says: times this (null: 1), in steps of that (null: not known)
alter table strategy_positions add column factor {decimal};
alter table strategy_positions add column step {decimal};
`;
