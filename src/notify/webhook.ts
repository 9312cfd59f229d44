// A signed webhook by the Standard Webhooks specification: whoever knows the secret can tell that it came from here, and when.

import { createHmac } from 'node:crypto';
import type { Attempt, Message } from '../domain/told/notification.ts';
import type { Addresses } from './channel.ts';
import type { Answered, Post } from './post.ts';

const PREFIX = 'whsec_';

export const signatureOf = (
  secret: string,
  signed: { id: string; timestamp: number; body: string },
): string => {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
  const content = `${signed.id}.${signed.timestamp}.${signed.body}`;
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
};

export async function sendWebhook(
  { post, clock }: { readonly post: Post; readonly clock: { now(): number } },
  { url, secret }: Addresses['webhook'],
  message: Message,
): Promise<Attempt> {
  const { id, event, at, title, text, link, data } = message;
  const body = JSON.stringify({ type: event, timestamp: at, data: { title, text, link, ...data } });
  // Of this attempt: the receiver refuses what is old, and a repeat after hours is not.
  const timestamp = Math.floor(clock.now() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Fillpath',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(secret, { id, timestamp, body }),
  };
  return judged(await post(url, { headers, body }));
}

/**
 * 410 is how a receiver says that it wants no more. Whatever else it answers may pass: behind a 404 or a 401 may be a server
 * that is just being changed, and it has a day for that. What says that the body is wrong may be about this message alone.
 */
function judged({ status, retryAfterMs }: Answered): Attempt {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if (status === 410) return { outcome: 'gone', error: 'It answered 410: it wants no more messages.' };
  const error =
    status >= 300 && status < 400
      ? `It answered ${status}: redirects are not followed. Give the address that it leads to.`
      : `It answered ${status}.`;
  return {
    outcome: 'again',
    error,
    ...(retryAfterMs !== null && { retryAfterMs }),
    ...(OF_THE_BODY.has(status) && { isRefusal: true }),
  };
}

/** Bad Request, Content Too Large, Unprocessable Content. */
const OF_THE_BODY: ReadonlySet<number> = new Set([400, 413, 422]);
