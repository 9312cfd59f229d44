// Telegram, Discord and Slack: plain text, with whatever came from outside escaped, so that a name can neither lay out a
// message nor call somebody.

import { millis } from '../domain/ids.ts';
import type { Attempt, Message } from '../domain/told/notification.ts';
import type { Addresses } from './channel.ts';
import type { Answered, Post } from './post.ts';

const JSON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Fillpath' };

interface Clocked {
  readonly post: Post;
  readonly clock: { now(): number };
}

/** A chat dates a message by its arrival: one that had to wait says itself of when it is. */
const LATE_MS = 60_000;

function linesOf({ at, title, text, link }: Message, { now }: Clocked['clock']): [string, string, string] {
  const isLate = now() - millis(at) > LATE_MS;
  return [title, isLate ? `At ${at.slice(0, 10)} ${at.slice(11, 16)} UTC: ${text}` : text, link];
}

/** By characters that are whole; the longest that the service takes is counted in UTF-16 units. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;

const send = (post: Post, url: string, body: object) =>
  post(url, { headers: JSON_HEADERS, body: JSON.stringify(body) });

/** What a chat says: for good where it is about the address, else later. */
interface Words {
  readonly service: string;
  /** What it said of itself; null: nothing. */
  readonly said: string | null;
  readonly gone: boolean;
  readonly unfit: boolean;
  readonly retryAfterMs: number | null;
}

function judged({ status }: Answered, { service, said, gone, unfit, retryAfterMs }: Words): Attempt {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  const error = `${service} answered ${status}${said ? `: ${cut(said, 200)}` : ''}.`;
  if (gone) return { outcome: 'gone', error };
  if (unfit) return { outcome: 'unfit', error };
  return { outcome: 'again', error, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}

/** A field of an answer in JSON; null where there is none. */
function fieldOf(body: string, ...path: readonly string[]): unknown {
  try {
    let value: unknown = JSON.parse(body);
    for (const name of path) value = (value as Record<string, unknown> | null)?.[name];
    return value ?? null;
  } catch {
    return null;
  }
}
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 ? Math.ceil(value * 1000) : null;

export async function sendTelegram(
  { post, clock, telegramUrl }: Clocked & { readonly telegramUrl: string },
  { botToken, chatId }: Addresses['telegram'],
  message: Message,
): Promise<Attempt> {
  const answered = await send(post, `${telegramUrl}/bot${botToken}/sendMessage`, {
    chat_id: chatId,
    // Without a parse_mode, so that nothing in it is markup.
    text: cut(linesOf(message, clock).join('\n'), 4096),
    link_preview_options: { is_disabled: true },
  });
  const { status, body } = answered;
  const said = textOf(fieldOf(body, 'description'));
  return judged(answered, {
    service: 'Telegram',
    said,
    // 404 is a token that nobody has; a group that became a supergroup has another id.
    gone:
      [401, 403, 404].includes(status) ||
      (status === 400 && /chat not found|chat_id|upgraded|deactivated/i.test(said ?? '')),
    unfit: status === 400,
    retryAfterMs: secondsOf(fieldOf(body, 'parameters', 'retry_after')) ?? answered.retryAfterMs,
  });
}

export async function sendDiscord(
  { post, clock }: Clocked,
  { url }: Addresses['discord'],
  message: Message,
): Promise<Attempt> {
  const [title, text, link] = linesOf(message, clock);
  const answered = await send(post, url, {
    content: cut(`${escapedMarkdown(title)}\n${escapedMarkdown(text)}\n${link}`, 2000),
    // Whatever stands in it calls nobody.
    allowed_mentions: { parse: [] },
    // Without a preview of the link.
    flags: 4,
  });
  const { status, body } = answered;
  return judged(answered, {
    service: 'Discord',
    said: textOf(fieldOf(body, 'message')),
    gone: [401, 403, 404, 410].includes(status),
    unfit: status === 400,
    retryAfterMs: secondsOf(fieldOf(body, 'retry_after')) ?? answered.retryAfterMs,
  });
}

const escapedMarkdown = (text: string): string => text.replace(/[\\*_~`|<>[\]()#@:-]/g, '\\$&');

export async function sendSlack(
  { post, clock }: Clocked,
  { url }: Addresses['slack'],
  message: Message,
): Promise<Attempt> {
  const answered = await send(post, url, {
    text: cut(linesOf(message, clock).map(escapedEntities).join('\n'), 3000),
    mrkdwn: false,
    unfurl_links: false,
  });
  const { status, body } = answered;
  // Its answers are one word, such as no_service.
  const said = /^[a-z_]{1,60}$/.test(body) ? body : null;
  return judged(answered, {
    service: 'Slack',
    said,
    gone: [401, 403, 404, 410].includes(status),
    unfit: status === 400,
    retryAfterMs: answered.retryAfterMs,
  });
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapedEntities = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? '');
