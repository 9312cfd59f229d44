// The owner of an order says what became of it. That takes a session, not a key: a password is asked for, and the session ends with the
// command.

import type { OrderRecord } from '../domain/orders/result.ts';
import { ask, baseOf, problemIn, Refused, URL_OPTION } from './client.ts';
import { type AddCommands, examples, JSON_OPTION, type WithJson } from './desk.ts';
import { visible } from './output.ts';

interface SettleOptions extends WithJson {
  readonly url?: string;
  readonly user: string;
  readonly code?: string;
  readonly filled?: true;
  readonly notFilled?: true;
  readonly price?: string;
  readonly quantity?: string;
}

export const settle: AddCommands = (noun, desk) => {
  const { output, input, does } = desk;
  noun
    .command('settle')
    .description('say what became of an order that no broker can tell of; its alarm and its look-ups end')
    .argument('<order>', 'its id')
    .requiredOption('--user <email>', 'its owner, whose password is read from stdin')
    .option('--code <code>', 'of the second factor, where the owner has one')
    .option('--filled', 'it was filled, with --price and --quantity')
    .option('--not-filled', 'it was not')
    .option('--price <number>', 'the average price')
    .option('--quantity <number>', 'what was filled, at most what was sent')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'orders settle 019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10 --user ann@example.com --not-filled < password',
        'orders settle 019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10 --user ann@example.com --filled --price 60000 --quantity 1 < password',
      ),
    )
    .action(
      does(async (id: string, options: SettleOptions) => {
        const said = saidBy(options);
        if (said === null) {
          output.complain('Say --not-filled, or --filled with --price and --quantity: numbers above zero.');
          return 2;
        }
        const base = baseOf(options.url ?? desk.client().url ?? desk.config().http.baseUrl);
        const call = async (
          path: string,
          { body, headers = {} }: { body?: object; headers?: Record<string, string> },
        ) => {
          const answer = await ask(`${base}${path}`, {
            headers: body ? { 'content-type': 'application/json', ...headers } : headers,
            ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
          });
          if (answer.ok) return answer;
          const text = await answer.text();
          throw new Refused(
            answer.status,
            path === TOKENS ? notIn(text, answer.status) : problemIn(text, answer.status),
          );
        };
        try {
          const credentials = {
            grant_type: 'password',
            username: options.user,
            password: await input.read(),
            ...(options.code ? { totp_code: options.code } : {}),
          };
          const entered = await call(TOKENS, { body: credentials });
          const tokens = (await entered.json()) as { access_token: string; csrf_token: string };
          const headers = {
            authorization: `Bearer ${tokens.access_token}`,
            'x-csrf-token': tokens.csrf_token,
          };
          try {
            const path = `/trading/orders/${encodeURIComponent(id)}/settle`;
            const order = (await (await call(path, { body: said, headers })).json()) as OrderRecord;
            if (options.json) output.json(order);
            else output.print(`The order is ${order.status}, by its owner's word.`);
            return 0;
          } finally {
            // It changes nothing about what was said; the session ends by itself where nobody refreshes it.
            await call('/auth/logout', { body: {}, headers }).catch((fault: Error) =>
              output.complain(`The session could not be ended: ${fault.message}`),
            );
          }
        } catch (fault) {
          if (!(fault instanceof Refused)) throw fault;
          output.complain(fault.message);
          return 1;
        }
      }),
    );
};

const TOKENS = '/auth/token';

/** In OAuth2's shape: what keeps its user out need not be the password. */
function notIn(text: string, status: number): string {
  const said = errorIn(text);
  if (said === 'totp_required') return 'The second factor is on: give its code with --code.';
  return `Not logged in: ${said === null ? `the answer was ${status}` : visible(said)}`;
}

function errorIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { error_description?: string }).error_description ?? null;
  } catch {
    return null;
  }
}

/** null: it is not said, or not whole. */
function saidBy({ filled, notFilled, price, quantity }: SettleOptions): object | null {
  if (filled === notFilled) return null;
  if (notFilled) return price === undefined && quantity === undefined ? { outcome: 'not_filled' } : null;
  const numbers = [Number(price), Number(quantity)];
  if (!numbers.every((number) => number > 0)) return null;
  return { outcome: 'filled', price: numbers[0], quantity: numbers[1] };
}
