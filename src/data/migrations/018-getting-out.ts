// What getting out of a position needs to know: months in which something was opened under a symbol that rolls, credentials that
// were good once, a reversal that only closed, and an end that a person gave to an order of which nobody else knew it.

export const gettingOut = `
create table opened_months (
  trading_account_id {uuid} not null references trading_accounts (id),
  simulation {boolean} not null,
  -- as it was ordered
  symbol text not null,
  -- the broker's own name of the month
  instrument text not null,
  opened_at {time} not null,
  primary key (trading_account_id, simulation, symbol, instrument)
);

alter table trading_accounts add column margin_mode text not null default 'cross';
-- They were verified, and the broker refused them later: entries are held back, and exits are not.
alter table trading_accounts add column credentials_refused {boolean} not null default {false};

-- Another order may bring more for this exit to take.
alter table order_history add column awaits_rest {boolean} not null default {false};
-- How much of other orders' legs, open when it was planned, is in position_before.
alter table order_history add column counted text;
alter table order_history add column half_done {boolean} not null default {false};
alter table order_history add column settled_by text;
`;
