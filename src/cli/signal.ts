// A test signal of a strategy, as its alert would send it: with the secret and the time. It is simulated unless somebody
// says that it is meant.

import { revealSecret } from '../app/accounts/account-keys.ts';
import { revealGroupSecret } from '../app/accounts/groups.ts';
import { accountsNamed } from '../data/accounts/accounts.ts';
import { groupsNamed } from '../data/accounts/groups.ts';
import { isDenial } from '../domain/denial.ts';
import { timestamp, type UserId } from '../domain/ids.ts';
import { ACTIONS } from '../domain/orders/order.ts';
import type { OrderResult, OrderSummary } from '../domain/orders/result.ts';
import { QUANTITY_TYPES } from '../domain/orders/sizing.ts';
import { asOperator, type Operator } from '../roles/operator.ts';
import { ask, problemIn } from './client.ts';
import { type AddCommands, type Desk, examples, JSON_OPTION, type WithJson } from './desk.ts';
import { lineOf } from './orders.ts';
import { type ExitCode, type Output, visible } from './output.ts';

/** Options that stand in the message, each under its name there. */
const FIELDS = {
  action: ACTIONS.join(', '),
  symbol: 'such as BTCUSDT',
  quantity: 'a number above zero',
  'quantity-type': `what that counts: ${QUANTITY_TYPES.join(', ')}; units, unless given`,
  'order-type': 'entry or exit; without it the action decides',
  'market-position': 'where the strategy stands after this signal: long, short or flat',
  'market-position-size': 'and with what size',
  'prev-market-position': 'where it stood before this signal',
  'prev-market-position-size': 'and with what size',
  id: 'which of several alerts within one second this is',
  price: "the sender's price",
  'limit-price': 'an entry that rests: fills at this price or better',
  'stop-price': 'an entry that rests: waits until the price is there',
  'time-in-force': 'of an entry that rests: gtc, day, ioc or fok',
  'expires-in': 'after so many seconds it is taken back; 86400, unless given',
  'cancel-id': 'of cancel: only what rests of this id',
  'stop-loss': 'where the position is closed: a price, or a distance such as 2%',
  'take-profit': 'where it is closed in profit: the same',
  'trailing-stop': 'at which distance the stop follows, such as 1.5%',
} as const;

/** All others are text, also where they look like a number: an id of 2, a symbol 2330. */
const NUMBERS = new Set([
  ...['quantity', 'market-position-size', 'prev-market-position-size', 'price'],
  ...['limit-price', 'stop-price', 'expires-in'],
]);

type Fields = { readonly [name: string]: string | undefined };

interface SendOptions extends WithJson {
  readonly url?: string;
  readonly account?: string;
  readonly group?: string;
  readonly base?: string;
  readonly real?: true;
  readonly yes?: true;
  readonly timestamp?: string;
}

interface Target {
  readonly url: string;
  readonly secret: string | undefined;
  /** For a person. */
  readonly name: string;
}

export const signal: AddCommands = (noun, desk) => {
  const { output, does } = desk;
  const send = noun
    .command('send')
    .description("send a signal to an account's webhook, or to a group's; simulated, unless --real is given")
    .option('--account <account>', 'on the service’s own machine: to this account, by name or id')
    .option('--group <group>', 'the same, to all members of this group')
    .option('--base <url>', 'where the service is, for those; else FILLPATH_URL, else BASE_URL')
    .option('--url <url>', 'from anywhere: to this webhook; the secret is FILLPATH_SECRET');
  for (const [name, about] of Object.entries(FIELDS))
    send.option(`--${name} <${name.split('-').at(-1)}>`, about);
  send
    .option('--timestamp <time>', 'when it was made; now, unless given')
    .option('--real', 'trade for real')
    .option('-y, --yes', 'with --real, do not ask for confirmation')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'signal send --account Futures --action buy --symbol BTCUSDT --quantity 0.01',
        'signal send --group Trend --action buy --symbol BTCUSDT --quantity 500 --quantity-type cash',
        'signal send --url https://…/webhook/…/order --action close --symbol BTCUSDT --real',
      ),
    )
    .action(
      does(async (options: SendOptions & Fields) => {
        if (
          [options.account, options.group, options.url].filter((given) => given !== undefined).length !== 1
        ) {
          output.complain('Say where to send it: give one of --account, --group and --url.');
          return 2;
        }
        const target =
          options.url === undefined ? await atTheMachine(desk, options) : elsewhere(desk, options.url);
        if (typeof target === 'number') return target;
        if (options.real && !options.yes && !(await isMeant(desk, target, options))) return 1;
        return deliver(output, target, options);
      }),
    );
};

const MOST_NAMED = 20;

/** Where a signal can be sent, and who may have its secret shown. */
interface Addressee {
  readonly id: string;
  readonly userId: UserId;
  readonly webhookToken: string;
  /** For a person. */
  readonly name: string;
}

/** The secret is opened as its owner would have it shown, which the audit log tells. */
async function atTheMachine(
  { output, config, client }: Desk,
  { account, group, base }: SendOptions,
): Promise<Target | ExitCode> {
  return asOperator<Target | ExitCode>(config(), 'signal send', async (operator) => {
    const named =
      group === undefined ? await toAccounts(operator, account ?? '') : await toGroups(operator, group);
    const [found, ...more] = named;
    const kind = group === undefined ? 'account' : 'group';
    if (!found || more.length > 0) {
      output.complain(
        found
          ? `Several ${kind}s have this name. Name one by its id:\n${named.map(shown).join('\n')}`
          : `There is no such ${group === undefined ? 'trading account' : kind}.`,
      );
      return 1;
    }
    const reveal = group === undefined ? revealSecret : revealGroupSecret;
    const owner = { id: found.userId, context: operator.context };
    const secret = await reveal({ ...operator, secrets: operator.secrets() }, owner, found.id);
    if (isDenial(secret)) throw new Error(secret.detail);
    const at = (base ?? client().url ?? operator.baseUrl).replace(/\/+$/, '');
    return {
      url: `${at}/webhook/${found.webhookToken}/order`,
      secret: secret.webhook_secret,
      name: found.name,
    };
  });
}

const toAccounts = async ({ db }: Operator, name: string): Promise<Addressee[]> =>
  (await accountsNamed(db, name, { limit: MOST_NAMED })).map((account) => ({
    ...account,
    name: `${visible(account.name)} (${account.brokerName}, ${account.environment})`,
  }));

const toGroups = async ({ db }: Operator, name: string): Promise<Addressee[]> =>
  (await groupsNamed(db, name, MOST_NAMED)).map((group) => ({
    ...group,
    name: `${visible(group.name)} (${group.members.filter(({ enabled }) => enabled).length} accounts)`,
  }));

const shown = ({ id, name, userId }: Addressee): string => `  ${id} ${name} of user ${userId}`;

function elsewhere({ output, client }: Desk, url: string): Target | ExitCode {
  const { protocol = '', search, hash } = URL.parse(url) ?? {};
  // Whether it is simulated is ours to say: a parameter or a fragment of the address could hide that.
  if (!/^https?:$/.test(protocol) || search || hash || /[?#]/.test(url)) {
    output.complain(
      '--url takes the whole address of a webhook, and nothing after it: https://…/webhook/…/order',
    );
    return 2;
  }
  return { url, secret: client().secret, name: new URL(url).host };
}

async function isMeant(
  { output, input }: Desk,
  { name }: Target,
  { action = '', quantity = '', symbol = '' }: Fields,
): Promise<boolean> {
  if (!input.isTerminal) {
    output.complain('This would trade for real: give --yes where nobody can be asked.');
    return false;
  }
  const what = visible([action, quantity, symbol].filter(Boolean).join(' '));
  const answer = await input.ask(`Send "${what}" to ${name} for real? Type yes: `);
  if (answer.trim() === 'yes') return true;
  output.complain('Nothing was sent.');
  return false;
}

interface OfGroup {
  readonly members: readonly {
    readonly trading_account_id: string;
    readonly order: OrderResult | null;
    readonly error: { readonly detail: string } | null;
  }[];
  readonly accepted: number;
  readonly refused: number;
}

interface Synced {
  readonly in_sync: boolean;
  readonly strategy_position: number;
  readonly broker_position: number;
  readonly order: OrderResult | null;
}

async function deliver(
  output: Output,
  { url, secret }: Target,
  options: SendOptions & Fields,
): Promise<ExitCode> {
  const message = {
    ...Object.fromEntries(
      Object.keys(FIELDS).flatMap((name) => {
        const value = options[camel(name)];
        if (value === undefined) return [];
        return [[name.replaceAll('-', '_'), NUMBERS.has(name) ? numberOr(value) : value]];
      }),
    ),
    timestamp: options.timestamp ?? timestamp(Date.now()),
    ...(secret === undefined ? {} : { secret }),
  };
  const begun = performance.now();
  const address = new URL(url);
  if (!options.real) address.searchParams.set('simulation', 'true');
  const answer = await ask(address.href, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  const text = await answer.text();
  const tookMs = Math.round(performance.now() - begun);
  if (!answer.ok) {
    if (options.json && text.startsWith('{')) output.json(JSON.parse(text));
    output.complain(problemIn(text, answer.status));
    return 1;
  }
  const result = JSON.parse(text) as OrderResult | Synced | OfGroup;
  if ('members' in result) return tellGroup(output, result, options, tookMs);
  if (options.json) output.json(result);
  else tell(output, result, tookMs);
  const order = 'in_sync' in result ? result.order : result;
  if (order !== null && !options.real && !order.simulation) {
    output.complain('The service traded this for real, although it was asked to simulate it.');
    return 2;
  }
  return order !== null && REFUSED.has(order.status) ? 1 : 0;
}

/** Of a group's webhook: a line for each member. 1: one of them did not trade. */
function tellGroup(
  output: Output,
  result: OfGroup,
  { json, real }: Pick<SendOptions, 'json' | 'real'>,
  tookMs: number,
): ExitCode {
  if (json) output.json(result);
  else {
    for (const { trading_account_id, order, error } of result.members)
      output.print(
        order
          ? lineOf(order as unknown as OrderSummary, output)
          : `${trading_account_id} ${error ? `${output.paint('bad', 'refused')}: ${visible(error.detail)}` : 'reported'}`,
      );
    output.print(
      output.paint(
        'quiet',
        `${result.accepted} accepted, ${result.refused} refused, answered after ${tookMs} ms`,
      ),
    );
  }
  const orders = result.members.flatMap(({ order }) => order ?? []);
  if (!real && orders.some(({ simulation }) => !simulation)) {
    output.complain('The service traded this for real, although it was asked to simulate it.');
    return 2;
  }
  return result.refused > 0 || orders.some(({ status }) => REFUSED.has(status)) ? 1 : 0;
}

const REFUSED = new Set<string>(['rejected', 'failed', 'expired']);

function tell(output: Output, result: OrderResult | Synced, tookMs: number): void {
  if ('in_sync' in result) {
    const { in_sync, strategy_position, broker_position } = result;
    const where = `the strategy stands at ${strategy_position}, the broker at ${broker_position}`;
    output.print(
      `${in_sync ? output.paint('good', 'in sync') : output.paint('bad', 'out of sync')}: ${where}`,
    );
  }
  const order = 'in_sync' in result ? result.order : result;
  if (order) {
    output.print(lineOf(order as unknown as OrderSummary, output));
    const hops = Object.entries(order.trace).map(([hop, ms]) => `${hop} ${ms}`);
    if (hops.length > 0) output.print(output.paint('quiet', `ms since arrival: ${hops.join(', ')}`));
  }
  output.print(output.paint('quiet', `answered after ${tookMs} ms`));
}

/** --market-position is marketPosition to Commander. */
const camel = (name: string): string =>
  name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());

/** As it is, where a number would be another one: the service judges it. */
const numberOr = (text: string): string | number => (String(Number(text)) === text ? Number(text) : text);
