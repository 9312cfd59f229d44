// What each rejection means to the person whose order it was. The order's own error says it with the particulars.

import type { RejectionCode } from './order.ts';

export const REJECTIONS: Readonly<Record<RejectionCode, string>> = {
  insufficient_margin: 'The account has too little margin for the order. Add funds, or order less.',
  market_closed: 'The market is closed; `market_hours` says when it opens. Send the order again then.',
  invalid_symbol:
    'The symbol is not found in the broker’s contracts. GET /trading/accounts/{id}/symbols has them.',
  invalid_quantity: 'The broker does not take this quantity. Keep to its step and its least quantity.',
  broker_rate_limited: 'The broker is asked too often. Send the order again after `retry_after` seconds.',
  position_mode_mismatch: 'The account is in hedge mode. Switch it to one-way mode at the broker.',
  no_position: 'Nothing is held on that side, so that there is nothing to take out or to close.',
  reversal_timeout:
    'The opposite position was not closed in time, and the entry was not sent. Look at the broker: this needs a person.',
  broker_unavailable: 'The broker cannot be reached, and nothing was sent. Send the order again.',
  expired: 'The order could not be sent before its deadline, and was not sent. Send a new signal.',
  account_halted:
    'The kill switch came between the acceptance of the order and its sending. Nothing was sent.',
  out_of_sync:
    'The strategy holds what the account does not, and this action does not open it. Align the account, or set `out_of_sync` to `follow`.',
  superseded: 'The strategy had said something later before this alert arrived. Nothing is to be done.',
  guard_refused: 'One of the account’s guards held the entry back; `guard` says which. Nothing was sent.',
  cancelled_by_broker: 'The broker took the order and cancelled it later. Ask the broker why.',
  failed_at_broker:
    'The broker refused the order for a reason of its own, or took it and could not execute it. Its words are in the message.',
};
