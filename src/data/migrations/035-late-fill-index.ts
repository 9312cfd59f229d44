// By what is found of late that was sent long ago.

export const lateFillIndex = `
create index {concurrently} if not exists order_history_traded on order_history (trading_account_id, traded_at) where traded_at is not null;
`;
