// Which request an order came with: every process that has it in hand says so in its log.

export const requestIds = `
alter table order_history add column request_id text;
`;
