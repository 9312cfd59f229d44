// What profit is counted from: what one of an instrument is worth, as it was when a leg was sent.

export const unitValues = `
-- at a price of 1, in the account's currency
alter table order_legs add column unit_value {decimal};
-- until now there was the paper broker alone, and this is its list
update order_legs set unit_value = case instrument
    when 'ES1!' then 50
    when 'MES1!' then 5
    when 'NQ1!' then 20
    when 'CL1!' then 1000
    when 'GC1!' then 100
    when 'TXF1!' then 6.25
    else 1
  end
  where sent_at is not null;
`;
