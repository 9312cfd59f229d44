// The way to the first real order: what ticks itself off, and which step is next.

import type { components } from '../../api/schema.ts';
import { figure } from '../../parts/numbers.ts';

type Schemas = components['schemas'];
type Overview = Schemas['Overview'];
type Account = Schemas['Account'];

type StepName = 'terms' | 'account' | 'message' | 'signal' | 'broker' | 'guards' | 'second_factor';

export interface Step {
  readonly name: StepName;
  readonly title: string;
  /** What is there, or what is to be done. */
  readonly words: string;
  readonly state: 'ticked' | 'now' | 'open';
}

export interface Known {
  readonly overview: Pick<Overview, 'accounts' | 'todo'>;
  readonly accounts: readonly Account[];
  readonly session: Schemas['OwnSession'];
  /** A signal was executed: one that was refused counts for nothing. */
  readonly hasExecuted: boolean;
  /** The page's own memory: no API knows what was copied. */
  readonly isMessageCopied: boolean;
}

/** What somebody who has just come has not done yet; anything else is trouble, and belongs on the usual page. */
const OF_BEGINNERS = new Set(['terms_not_accepted', 'credentials_missing', 'credentials_not_verified']);

export const hasOnlyBeginnersTrouble = ({ todo }: Pick<Overview, 'todo'>): boolean =>
  todo.every(({ kind }) => OF_BEGINNERS.has(kind));

export function firstSteps({ overview, accounts, session, hasExecuted, isMessageCopied }: Known): Step[] {
  const { current_version, accepted_version } = session.terms;
  const [account] = accounts;
  const currency = overview.accounts.find(({ id }) => id === account?.id)?.currency ?? '';
  const brokers = overview.accounts.filter(({ real_money }) => real_money);
  const connected = brokers.find(({ credentials }) => credentials === 'verified');
  const hasArrived = overview.accounts.some(({ last_signal_at }) => last_signal_at !== null);
  const guarded = accounts.find(({ guards }) => Object.values(guards).some((guard) => guard !== null));
  const isAccepted = accepted_version === current_version;
  const steps: [StepName, string, boolean, string, string][] = [
    [
      'terms',
      'The terms',
      isAccepted,
      `Version ${current_version} is accepted`,
      'before real money may move',
    ],
    [
      'account',
      account && account.broker !== 'paper' ? 'An account' : 'A paper account',
      account !== undefined,
      account?.paper
        ? `${account.name}, ${figure(account.paper.starting_cash)} ${currency} to play with`
        : (account?.name ?? ''),
      'It fills at once, and no real money moves',
    ],
    [
      'message',
      'The message',
      isMessageCopied || hasArrived,
      isMessageCopied ? 'Copied, with its secret' : 'It was sent',
      'Copy it: the address and the secret are filled in',
    ],
    [
      'signal',
      'The first signal',
      hasExecuted,
      'It was executed',
      'Paste the command, or set up an alert. This step ticks itself off when the signal is executed.',
    ],
    [
      'broker',
      'A broker',
      connected !== undefined,
      connected?.name ?? '',
      'its key is sealed in this browser, and opened only where your orders are sent from',
    ],
    [
      'guards',
      'Guards',
      guarded !== undefined,
      `${guarded?.name ?? ''} has some`,
      'so that no strategy sends too many orders or too large ones',
    ],
    [
      'second_factor',
      'A second factor',
      session.totp_enabled,
      'Every login asks for it',
      'before real money moves',
    ],
  ];
  const next = steps.findIndex(([, , isDone]) => !isDone);
  return steps.map(([name, title, isDone, done, todo], place) => ({
    name,
    title,
    words: isDone ? done : todo,
    state: isDone ? 'ticked' : place === next ? 'now' : 'open',
  }));
}

// The message

/** What the first signal says. */
export interface FirstSignal {
  readonly url: string;
  readonly symbol: string;
  readonly quantity: number;
  readonly secret: string;
}

/** Nobody's first try moves real money, and a plan may allow the simulated book only. */
export const isRehearsal = (
  account: Account,
  plan: Pick<Schemas['Subscription'], 'simulation_only'>,
): boolean => account.broker !== 'paper' || plan.simulation_only;

export const webhookOf = (account: Account, isSimulated: boolean): string =>
  isSimulated ? `${account.webhook_url}?simulation=true` : account.webhook_url;

export function firstSignal(account: Account, secret: string, isSimulated: boolean): FirstSignal {
  const symbol = account.allowed_symbols[0] ?? (account.broker === 'alpaca' ? 'AAPL' : 'BTCUSDT');
  return {
    url: webhookOf(account, isSimulated),
    symbol,
    quantity: symbol.startsWith('BTC') ? 0.01 : 1,
    secret,
  };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The shell puts the time in: a command that is pasted later, or twice, is not an old signal. */
export function curlCommand({ url, symbol, quantity, secret }: FirstSignal): string {
  const head = `{"action":"buy","symbol":${JSON.stringify(symbol)},"quantity":${quantity},
       "timestamp":"`;
  const tail = `",
       "secret":${JSON.stringify(secret)}}`;
  return `curl -sS \\\n  ${quoted(url)} \\\n  -d ${quoted(head)}$(date -u +%FT%TZ)${quoted(tail)}`;
}

/** The same for a strategy on the charting platform, which fills in what stands in braces. */
export const strategyMessage = (secret: string): string =>
  `{ "action": "{{strategy.order.action}}", "symbol": "{{ticker}}",
  "quantity": {{strategy.order.contracts}},
  "market_position": "{{strategy.market_position}}",
  "market_position_size": {{strategy.market_position_size}},
  "prev_market_position": "{{strategy.prev_market_position}}",
  "prev_market_position_size": {{strategy.prev_market_position_size}},
  "id": "{{strategy.order.id}}", "price": {{close}},
  "timestamp": "{{timenow}}", "secret": ${JSON.stringify(secret)} }`;
