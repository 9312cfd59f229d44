// Records as the API gives them, for tests of what the pages say of them: complete, of one order and its signal.

import type { components } from '../../web/api/schema.ts';
import type { Order } from '../../web/parts/happened.ts';

type Signal = components['schemas']['SignalRecord'];

const ARRIVED = '2026-11-12T14:48:03.214Z';
export const after = (ms: number) => new Date(Date.parse(ARRIVED) + ms).toISOString();

/** As a list has it; nothing is known yet of what became of it. */
export const orderSummary = (given: Partial<Order>): Order => ({
  user_id: 'u',
  order_id: 'o',
  status: 'filled',
  simulation: false,
  real_money: true,
  source: 'webhook',
  trading_account_id: 'a',
  broker_name: 'bybit',
  symbol: 'BTCUSDT.P',
  action: 'sell',
  operation: 'PLACE_ENTRY_ORDER',
  order_type: null,
  quantity: 0.3,
  broker_refs: [],
  fill_price: null,
  fill_quantity: null,
  market_position: null,
  target: null,
  gap: false,
  ignored: [],
  price: null,
  slippage: null,
  auto_exit: false,
  exit_quantity: null,
  position_before: null,
  exit_order_result: null,
  half_done: false,
  settled_by: null,
  quantity_type: 'units',
  sizing: null,
  limit_price: null,
  stop_price: null,
  time_in_force: null,
  expires_at: null,
  exit_reason: null,
  caused_by: null,
  unprotected_ms: null,
  protection: null,
  error: null,
  submitted_at: ARRIVED,
  filled_at: null,
  deadline_at: after(10_000),
  guards: [],
  verification: { state: 'none', attempts: 0, next_at: null },
  ...given,
});

export const signalRecord = (given: Partial<Signal>): Signal => ({
  id: 's',
  arrived_at: ARRIVED,
  trading_account_id: 'a',
  simulation: false,
  real_money: true,
  symbol: 'BTCUSDT.P',
  action: 'sell',
  quantity: 0.3,
  outcome: 'order',
  code: null,
  detail: null,
  order_id: 'o',
  order_status: 'filled',
  position_before: null,
  fill_price: null,
  slippage: null,
  total_ms: null,
  ip_address: '127.0.0.1',
  message: null,
  understood: null,
  ignored: [],
  checks: [],
  ...given,
});
