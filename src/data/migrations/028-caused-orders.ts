// By what an order's story finds the closes that its protection made: few, whatever the table's length.

export const causedOrders = `
create index {concurrently} if not exists order_history_caused on order_history (caused_by, submitted_at, order_id) where caused_by is not null;
`;
