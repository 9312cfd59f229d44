// By what the orders are counted of which nobody knows whether the broker has them: few, whatever the table's length.

export const unknownOrders = `
create index {concurrently} if not exists order_history_unknown on order_history (order_id) where status = 'unknown';
`;
