// What the accepting commit compares and counts.

export const counts = `
-- grows with every change of what an order is checked against: who read the account before cannot commit one after
alter table trading_accounts add column revision integer not null default 1;

-- real orders are counted in the other column; of the day on which this is applied, that one has both
alter table daily_order_counts add column simulated integer not null default 0;

-- whose plan has lapsed, or was taken away, may still get out of what it had let them into
alter table users add column had_plan {boolean} not null default false;
update users set had_plan = true where plan <> 'free';
`;
