// The messages to paste into an alert. The strategy's is the service's own template (src/domain/signals/template.ts; a test compares
// them), set so that it is read in a glance.

/** Stands for the secret until it is copied. */
export const SECRET = '<your webhook secret>';
export const MASKED = '•'.repeat(22);

export const strategyMessage = (): string =>
  `{ "action": "{{strategy.order.action}}", "symbol": "{{ticker}}", "quantity": {{strategy.order.contracts}},
  "market_position": "{{strategy.market_position}}", "market_position_size": {{strategy.market_position_size}},
  "prev_market_position": "{{strategy.prev_market_position}}",
  "prev_market_position_size": {{strategy.prev_market_position_size}},
  "id": "{{strategy.order.id}}", "price": {{close}}, "timestamp": "{{timenow}}", "secret": "${SECRET}" }`;

export const ALERT_ACTIONS = ['buy', 'sell', 'close'] as const;
export type AlertAction = (typeof ALERT_ACTIONS)[number];

/** An alert on a price or an indicator knows of no position: it says what to do. `close` takes no quantity. */
export const alertMessage = (action: AlertAction, quantity: string): string =>
  `{ "action": "${action}", "symbol": "{{ticker}}",${action === 'close' ? '' : ` "quantity": ${quantity},`}
  "price": {{close}}, "timestamp": "{{timenow}}", "secret": "${SECRET}" }`;

/**
 * For the strategy's own script: the platform fills a strategy's placeholders in when an order is filled, and not at a bar's
 * close, so that the script has to say by itself where it stands.
 */
export const syncScript = (): string =>
  `if barstate.isconfirmed
    side = strategy.position_size > 0 ? "long" : strategy.position_size < 0 ? "short" : "flat"
    alert('{ "action": "sync", "symbol": "' + syminfo.ticker + '", "market_position": "' + side +
      '", "market_position_size": ' + str.tostring(math.abs(strategy.position_size)) +
      ', "timestamp": ' + str.tostring(timenow) + ', "secret": "${SECRET}" }', alert.freq_once_per_bar_close)`;

export const withSecret = (message: string, secret: string): string => message.replaceAll(SECRET, secret);

export interface Piece {
  readonly text: string;
  /** What the platform fills in. */
  readonly isPlaceholder: boolean;
}

/** As it is shown: the secret masked, placeholders apart. */
export function pieces(message: string): readonly Piece[] {
  return message
    .replaceAll(SECRET, MASKED)
    .split(/(\{\{[^{}]*\}\})/)
    .filter((text) => text !== '')
    .map((text) => ({ text, isPlaceholder: text.startsWith('{{') }));
}
