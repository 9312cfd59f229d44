// All channels over one guarded POST; but for a Bot API server of the operator's own, which may stand behind the guard.

import type { Attempt, Message } from '../domain/told/notification.ts';
import type { Address, Channels } from './channel.ts';
import { sendDiscord, sendSlack, sendTelegram } from './chat.ts';
import { openOwnPost, openPost, type PostSettings, Unanswered } from './post.ts';
import { sendWebhook } from './webhook.ts';

export interface ChannelSettings extends PostSettings {
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void };
  /** In place of Telegram's own: a Bot API server of the operator's, or a stub. */
  readonly telegramUrl?: string;
}

const TELEGRAM = 'https://api.telegram.org';

export function openChannels(settings: ChannelSettings): Channels {
  const { clock, log, telegramUrl = TELEGRAM } = settings;
  const deps = { post: openPost(settings), clock };
  const bots = { post: telegramUrl === TELEGRAM ? deps.post : openOwnPost(settings), clock, telegramUrl };
  const by = (address: Address, message: Message): Promise<Attempt> => {
    switch (address.kind) {
      case 'telegram':
        return sendTelegram(bots, address, message);
      case 'discord':
        return sendDiscord(deps, address, message);
      case 'slack':
        return sendSlack(deps, address, message);
      case 'webhook':
        return sendWebhook(deps, address, message);
    }
  };
  return {
    async send(address, message) {
      try {
        return await by(address, message);
      } catch (fault) {
        if (fault instanceof Unanswered) return { outcome: 'again', error: fault.message };
        log.warn({ fault, message: message.id }, 'a notification could not be sent');
        return { outcome: 'again', error: 'It could not be sent.' };
      }
    },
  };
}
