// Months of the orders of before. Beside whoever writes: it reads all orders, and may be repeated.

export const openedMonths = `
insert into opened_months (trading_account_id, simulation, symbol, instrument, opened_at)
select o.trading_account_id, o.simulation, o.symbol, l.instrument, max(l.sent_at)
from order_history o join order_legs l on l.order_id = o.order_id
where o.symbol like '%!' and l.leg = 'entry' and l.fill_quantity > 0 and l.instrument is not null and l.sent_at is not null
group by o.trading_account_id, o.simulation, o.symbol, l.instrument
on conflict (trading_account_id, simulation, symbol, instrument) do nothing;
`;
