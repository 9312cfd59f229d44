// How much an order trades, where its quantity counts something else than units.

export const sizes = `
-- as JSON: what the quantity counts, and, once it is planned, how many units that is and by what
alter table order_history add column sizing text;
`;
