// What each rejection means to the person whose order it was, and what to do. The order's own error says it with the
// particulars.

import type { RejectionCode } from './order.ts';

export interface RejectionRule {
  readonly meaning: string;
  readonly advice: string;
}

export const REJECTIONS: Readonly<Record<RejectionCode, RejectionRule>> = {
  insufficient_margin: {
    meaning: 'The account has too little margin for the order.',
    advice: 'Add funds, or order less.',
  },
  market_closed: {
    meaning: 'The market is closed; `market_hours` says when it opens.',
    advice: 'Send the order again when it opens.',
  },
  invalid_symbol: {
    meaning: 'The symbol is not found in the broker’s contracts.',
    advice: 'Send one that GET /trading/accounts/{id}/symbols lists.',
  },
  invalid_quantity: {
    meaning: 'The broker does not take this quantity.',
    advice: 'Keep to its step and its minimum, which GET /trading/accounts/{id}/symbols shows.',
  },
  broker_rate_limited: {
    meaning: 'The broker is being asked too often.',
    advice: 'Send the order again after `retry_after` seconds.',
  },
  position_mode_mismatch: {
    meaning: 'The account is in hedge mode.',
    advice: 'Switch it to one-way mode at the broker.',
  },
  no_position: {
    meaning:
      'Nothing is held on that side, or nothing that the order could take: other open orders may hold it back.',
    advice:
      'Nothing needs doing where nothing is held. Else look at what the message names, and at the open orders at your broker.',
  },
  reversal_timeout: {
    meaning: 'The opposite position was not closed in time, and the entry was not sent.',
    advice: 'Look at the position at your broker, and close or open the rest there: this needs a person.',
  },
  broker_unavailable: {
    meaning: 'The broker cannot be reached, and nothing was sent.',
    advice: 'Send the order again.',
  },
  credentials_rejected: {
    meaning: 'The broker refuses the account’s credentials, and nothing was sent.',
    advice:
      'Close at your broker what is to be closed now. Then verify the account’s credentials, or send new ones.',
  },
  expired: {
    meaning: 'The order could not be sent before its deadline, and was not sent.',
    advice: 'Send a new signal, if you still want the trade.',
  },
  account_halted: {
    meaning: 'The kill switch came between the acceptance of the order and its sending. Nothing was sent.',
    advice: 'Resume the account, and send the order again if you still want it.',
  },
  out_of_sync: {
    meaning: 'The strategy holds what the account does not, and this action does not open it.',
    advice: 'Align the account, or set `out_of_sync` to `follow`.',
  },
  superseded: {
    meaning: 'The strategy had said something later before this alert arrived.',
    advice: 'Nothing needs doing where the later alert was followed; else align the account.',
  },
  guard_refused: {
    meaning: 'One of the account’s guards held the entry back; `guard` says which. Nothing was sent.',
    advice: 'Change the guard if the order was right, and send it again.',
  },
  cancelled_by_broker: {
    meaning: 'The broker took the order and cancelled it later.',
    advice: 'Ask the broker why.',
  },
  failed_at_broker: {
    meaning:
      'The broker refused the order for a reason of its own, or took it and could not execute it. Its words are in the message.',
    advice: 'Do as those words say, or ask the broker.',
  },
  invalid_protection: {
    meaning: 'The market does not let a stop or a target stand where it was asked for. Nothing was sent.',
    advice: 'Send a level on the right side of the market; the message names the value and the market.',
  },
  protection_failed: {
    meaning: 'The broker refused the stop, again and again.',
    advice:
      'The position was closed, or, where the account’s `unprotected` is `alert`, stands without a stop: look at what the broker says, and set another level.',
  },
  sizing_failed: {
    meaning: 'How much to trade could not be computed: the message says what was missing. Nothing was sent.',
    advice: 'Send the order again, or say how much in units of the symbol.',
  },
  invalid_price: {
    meaning:
      'The price lies between two ticks, or a stop is on the wrong side of the market. Nothing was sent.',
    advice: 'Send a multiple of the tick; a stop to buy lies above the market, one to sell below it.',
  },
  too_many_resting: {
    meaning: 'Ten entries rest in this symbol already. Nothing was sent.',
    advice: 'Take one back, or send the `id` of the one whose place it is to take.',
  },
  replaced: {
    meaning: 'Another order in the symbol took the place of the entry that rested.',
    advice: 'Nothing needs doing: what was filled before is held, and shown.',
  },
  cancelled_on_request: {
    meaning: 'The entry that rested was taken back: by you, an exit, a close or the kill switch.',
    advice: 'Nothing needs doing: what was filled before is held, and shown.',
  },
  lapsed: {
    meaning: 'The time for which the entry was to rest is over, and it was taken back.',
    advice: 'Send it again if you still want it; `expires_in` says for how long it rests.',
  },
  stopped_out: {
    meaning: 'The position was closed by its protection, and the strategy has not been flat since.',
    advice:
      'Nothing needs doing: the next trade of the strategy is traded. To get in again now, align the account.',
  },
};
