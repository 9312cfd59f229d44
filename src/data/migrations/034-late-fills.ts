// When more of an entry that rests was last known to be filled: days after it was sent, perhaps.

export const lateFills = `
alter table order_history add column traded_at {time};
`;
