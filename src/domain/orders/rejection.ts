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
    advice:
      'Use a symbol that this broker has: the Trade drawer finds it, and so does GET /trading/accounts/{id}/symbols.',
  },
  invalid_quantity: {
    meaning: 'The broker does not take this quantity.',
    advice:
      'Send a multiple of its step, and at least its minimum: GET /trading/accounts/{id}/symbols shows both.',
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
    meaning: 'Nothing is held on that side, or all of it is reserved for other open orders.',
    advice:
      'If nothing is held, there is nothing to do. Otherwise check your open orders at the broker, and what the message names.',
  },
  reversal_timeout: {
    meaning: 'The opposite position was not closed in time, and the entry was not sent.',
    advice: 'Check the position at your broker, and finish the trade there by hand.',
  },
  broker_unavailable: {
    meaning: 'The broker cannot be reached, and nothing was sent.',
    advice: 'Send the order again.',
  },
  credentials_rejected: {
    meaning: 'The broker refuses the account’s credentials, and nothing was sent.',
    advice:
      'If a position must be closed now, close it at your broker. Then verify the account’s credentials, or enter new ones.',
  },
  expired: {
    meaning: 'The order could not be sent before its deadline, and was not sent.',
    advice: 'Send a new signal, if you still want the trade.',
  },
  account_halted: {
    meaning: 'The account was halted before the order was sent. Nothing was sent.',
    advice: 'Resume the account, and send the order again if you still want it.',
  },
  out_of_sync: {
    meaning:
      'The strategy holds a position that the account does not have, and this action does not open one.',
    advice: 'Align the account, or set `out_of_sync` to `follow`.',
  },
  superseded: {
    meaning: 'A later alert of the strategy arrived before this one.',
    advice: 'If the later alert was followed, there is nothing to do. Otherwise align the account.',
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
    advice: 'Read the broker’s words in the message. If they do not help, ask the broker.',
  },
  invalid_protection: {
    meaning: 'The market does not let a stop or a target stand where it was asked for. Nothing was sent.',
    advice: 'Send a level on the right side of the market; the message names the value and the market.',
  },
  protection_failed: {
    meaning: 'The broker refused the stop every time.',
    advice:
      'The position was closed. With the account’s `unprotected` set to `alert` it is still open without a stop: read what the broker says, and set another stop.',
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
    advice: 'Cancel one of them, or send the `id` of the one that it replaces.',
  },
  replaced: {
    meaning: 'A newer order in this symbol replaced the resting entry.',
    advice: 'Nothing to do: what was filled before stays, and is shown.',
  },
  cancelled_on_request: {
    meaning: 'The resting entry was cancelled by you, an exit, a close or the kill switch.',
    advice: 'Nothing to do: what was filled before stays, and is shown.',
  },
  lapsed: {
    meaning: 'The entry was not filled within its time, and was cancelled.',
    advice: 'Send it again if you still want it; `expires_in` sets how long it rests.',
  },
  stopped_out: {
    meaning: 'The position was closed by its protection, and the strategy has not been flat since.',
    advice: 'Nothing to do: the strategy’s next trade is followed. To get back in now, align the account.',
  },
};
