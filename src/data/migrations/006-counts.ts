// What the accepting commit compares and counts.

export const counts = `
-- grows with every change of what an order is checked against: who read the account before cannot commit one after
alter table trading_accounts add column revision integer not null default 1;
`;
