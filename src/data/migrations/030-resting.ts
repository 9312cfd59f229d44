// Entries that rest at the broker until a price is reached, and are taken back by us.

export const resting = `
-- as JSON: what the entry waits for, until when, and its own name; null: at the market
alter table order_history add column priced text;
-- as JSON: why the entry is taken back, from before the broker is asked to
alter table order_history add column ending text;
-- what rests: few, whatever the table's length
create index order_history_resting on order_history (trading_account_id) where priced is not null and unsettled = true;
-- of a paper order: waits until this price is reached; null: it does not, or it was
alter table paper_orders add column trigger_price {decimal};
-- when it ends by itself
alter table paper_orders add column good_until {time};
`;
