// What a user gives as an address, read strictly: a chat's own form for a chat, any https address for a webhook. Where it leads
// is checked when something is sent there, because it may lead elsewhere by then.

import type { DestinationKind } from './notification.ts';

export interface GivenAddress {
  readonly kind: DestinationKind;
  readonly url?: string;
  readonly botToken?: string;
  readonly chatId?: string;
}

export type ReadAddress =
  | { readonly address: Readonly<Record<string, string>>; readonly shownAs: string }
  | { readonly problem: string };

const BOT_TOKEN = /^(\d{5,20}):[A-Za-z0-9_-]{30,80}$/;
const CHAT_ID = /^(?:-?\d{1,20}|@[A-Za-z]\w{4,31})$/;
const DISCORD_HOSTS: ReadonlySet<string> = new Set([
  'discord.com',
  'discordapp.com',
  'ptb.discord.com',
  'canary.discord.com',
]);
const DISCORD_PATH = /^\/api\/(?:v\d{1,2}\/)?webhooks\/(\d{5,25})\/[\w-]{20,120}\/?$/;
const SLACK_PATH = /^\/(?:services|workflows|triggers)\/[\w/-]{10,300}$/;
const MOST_CHARACTERS = 2048;

/** `mayBePlain`: the operator has allowed networks of their own, which are reached by http too. */
export function readAddress(given: GivenAddress, { mayBePlain }: { mayBePlain: boolean }): ReadAddress {
  const { kind, url, botToken, chatId } = given;
  if (kind === 'telegram') return readTelegram(given);
  if (botToken !== undefined || chatId !== undefined)
    return { problem: 'bot_token and chat_id belong to a destination of kind "telegram".' };
  if (url === undefined) return { problem: 'url is missing: the address to send to.' };
  const read = readUrl(url);
  if (typeof read === 'string') return { problem: read };
  const isPlainHttps = read.protocol === 'https:' && read.port === '' && read.search === '';
  switch (kind) {
    case 'discord': {
      const [, webhook] = read.pathname.match(DISCORD_PATH) ?? [];
      if (!isPlainHttps || !DISCORD_HOSTS.has(read.hostname) || webhook === undefined)
        return { problem: 'url must be a Discord webhook: https://discord.com/api/webhooks/…/…' };
      return { address: { url: read.href }, shownAs: `${read.hostname}, webhook ${webhook}` };
    }
    case 'slack':
      if (!isPlainHttps || read.hostname !== 'hooks.slack.com' || !SLACK_PATH.test(read.pathname))
        return { problem: 'url must be a Slack incoming webhook: https://hooks.slack.com/services/…' };
      return { address: { url: read.href }, shownAs: read.hostname };
    case 'webhook':
      if (read.protocol !== 'https:' && !(mayBePlain && read.protocol === 'http:'))
        return { problem: 'url must begin with https://.' };
      // Its path may be its secret.
      return { address: { url: read.href }, shownAs: read.host };
  }
}

function readTelegram({ url, botToken, chatId }: GivenAddress): ReadAddress {
  if (url !== undefined) return { problem: 'A destination of kind "telegram" has no url.' };
  const [, bot] = botToken?.match(BOT_TOKEN) ?? [];
  if (botToken === undefined || bot === undefined)
    return { problem: 'bot_token must be as @BotFather gives it: 123456789:AA…' };
  if (chatId === undefined || !CHAT_ID.test(chatId))
    return { problem: 'chat_id must be a number, such as -1001234567890, or @ and the name of a channel.' };
  return { address: { botToken, chatId }, shownAs: `chat ${chatId}, bot ${bot}` };
}

function readUrl(text: string): URL | string {
  const url = text.length <= MOST_CHARACTERS && /^https?:\/\/\S+$/i.test(text) ? URL.parse(text) : null;
  if (url === null) return 'url must look like https://example.com/hook.';
  if (url.username !== '' || url.password !== '') return 'url must not contain a user name or a password.';
  if (url.hash !== '') return 'url must not contain a fragment (#…).';
  return url;
}
