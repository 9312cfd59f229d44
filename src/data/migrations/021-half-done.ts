// By what Today finds the reversals that closed and did not open: few, whatever the table's length.

export const halfDone = `
create index {concurrently} if not exists order_history_half_done on order_history (user_id, submitted_at, order_id) where half_done = true;
`;
