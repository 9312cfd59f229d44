// What becomes of a message, in one sentence.

import { fieldsOf } from './lines.ts';
import { aboutField, type Checked } from './remarks.ts';

export const refusalsIn = ({ checks }: Checked) => checks.filter(({ outcome }) => outcome === 'refused');

export interface Verdict {
  /** Semibold. */
  readonly matters: string;
  readonly rest: string;
}

export function verdictOn(checked: Checked): Verdict {
  const { service, understood, plan, lost } = checked;
  const [first, ...others] = refusalsIn(checked);
  if (service !== null) {
    const matters = `This message was written for ${service}${losesStop(checked) ? ', and its stop would be lost' : ''}:`;
    if (understood === null) return { matters, rest: 'it cannot be translated without guessing' };
    const wrong = first?.check === 'secret' ? others[0] : first;
    return wrong
      ? { matters, rest: `translated, it would be refused: ${sentence(wrong.detail)}` }
      : {
          matters,
          rest: `the one below says ${lost.length === 0 ? 'the same in our format' : `the same in our format, with ${lost.length === 1 ? 'a difference' : `${lost.length} differences`}`}`,
        };
  }
  if (first) return { matters: 'This message would be refused:', rest: sentence(first.detail) };
  if (understood?.action === 'sync')
    return { matters: 'This message would be accepted:', rest: 'it reports where the strategy stands' };
  if (plan?.error)
    return {
      matters: 'This message would be accepted, but not all of it traded:',
      rest: sentence(plan.error.message),
    };
  if (understood?.action === 'protect')
    return {
      matters: 'This message would be accepted:',
      rest: 'it trades nothing, and changes what protects the position',
    };
  if (plan && plan.legs.length === 0)
    return { matters: 'This message would be accepted:', rest: 'there is nothing to trade' };
  const legs = plan?.legs.length ?? 0;
  return {
    matters: 'This message would trade:',
    rest: legs > 1 ? `${legs} orders, one after the other` : 'one order at market',
  };
}

const STOP = /stop|trail|trigger|^sl$|^loss$/i;

/** It asks for a stop, and the one that works has none. */
function losesStop({ lost, corrected }: Checked): boolean {
  const isKept = fieldsOf(corrected ?? '')?.some(
    ({ name }) => name === 'stop_loss' || name === 'trailing_stop',
  );
  return !isKept && lost.some((sentence) => STOP.test(aboutField(sentence)?.name ?? ''));
}

/** Its first sentence, as the end of another. */
function sentence(detail: string | null): string {
  const [first = ''] = (detail ?? 'refused').split(/(?<=[.!?])\s/);
  const plain = first.replace(/\.$/, '').replace(/^"([^"]{1,64})"/, '$1');
  return /^(?:The|A|An|This|It|You|Your|Put|Send|Orders|No|None|Not|Credentials|Terms|Accept)\b/.test(plain)
    ? plain.charAt(0).toLowerCase() + plain.slice(1)
    : plain;
}

export interface Example {
  readonly title: string;
  readonly message: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'a strategy’s, as it is pasted into the alert',
    message: `{ "action": "{{strategy.order.action}}", "symbol": "{{ticker}}", "quantity": {{strategy.order.contracts}},
  "market_position": "{{strategy.market_position}}", "market_position_size": {{strategy.market_position_size}},
  "id": "{{strategy.order.id}}", "price": {{close}}, "timestamp": "{{timenow}}", "secret": "<your webhook secret>" }`,
  },
  {
    title: 'one that asks for a stop',
    message: `{ "action": "buy", "symbol": "BTCUSDT.P", "quantity": "0.1", "stopLoss": 95400,
  "timestamp": "{{timenow}}", "secret": "<your webhook secret>" }`,
  },
  {
    title: 'TradersPost',
    message: `{ "ticker": "BTCUSDT.P", "action": "buy", "sentiment": "long", "quantity": "0.1", "price": "96371.5",
  "time": "{{timenow}}", "stopLoss": { "stopPrice": 95400 }, "extras": { "strategy": "trend 15m" } }`,
  },
  {
    title: '3Commas',
    message: `{ "secret": "…", "bot_uuid": "5f0e", "max_lag": "300", "timestamp": "{{timenow}}", "trigger_price": "{{close}}",
  "tv_exchange": "{{exchange}}", "tv_instrument": "{{ticker}}", "action": "enter_long",
  "order": { "amount": "0.1", "currency_type": "base" },
  "stop_loss": { "enabled": true, "order_type": "market", "trigger_price_percent": 2 } }`,
  },
  {
    title: 'CrossTrade',
    message:
      'key=…;command=PLACE;account=Sim101;instrument=ES 12-26;action=BUY;qty=1;order_type=MARKET;tif=DAY;stop_loss=-40 ticks;',
  },
  { title: 'PineConnector', message: '60123456789,closelong,BTCUSDT' },
  {
    title: 'OpenAlgo',
    message: `{ "apikey": "…", "strategy": "trend 15m", "exchange": "NSE", "symbol": "SBIN", "action": "SELL", "quantity": "100",
  "product": "MIS", "pricetype": "SL-M", "trigger_price": "615" }`,
  },
];
