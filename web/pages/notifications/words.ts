// What the page says of events, kinds of destinations and their states.

import type { components } from '../../api/schema.ts';

export type Destination = components['schemas']['NotificationDestination'];
export type EventKind = Destination['events'][number];
export type Kind = Destination['kind'];

interface Group {
  readonly name: string;
  readonly events: readonly (readonly [EventKind, string])[];
}

export const GROUPS: readonly Group[] = [
  {
    name: 'Not known, or not as it should be',
    events: [
      ['order_unknown', 'an order is unknown'],
      ['dead_letter', 'nobody could say what became of an order'],
      ['drift', 'a position is not the strategy’s'],
    ],
  },
  {
    name: 'Stops and targets',
    events: [
      ['unprotected', 'a position has no stop'],
      ['protection_failed', 'a stop or a target was refused'],
      ['protection_restored', 'a stop or a target was put back'],
      ['stop_hit', 'a stop was hit'],
      ['target_hit', 'a target was hit'],
    ],
  },
  {
    name: 'Orders',
    events: [
      ['order_failed', 'an order failed'],
      ['guard_refused', 'a guard refused an entry'],
      ['fill', 'a fill'],
    ],
  },
  {
    name: 'Signals',
    events: [
      ['gap', 'an alert never arrived'],
      ['silence', 'a webhook is silent'],
      ['limit', 'the daily limit is 80 % used'],
    ],
  },
  {
    name: 'Access',
    events: [
      ['broker_disconnected', 'a broker does not answer'],
      ['credentials_refused', 'a broker refuses the credentials'],
      ['attack', 'a request was refused as an attack'],
    ],
  },
  { name: 'A sign of life', events: [['daily_summary', 'a summary, once a day']] },
];

const EVERY = GROUPS.flatMap(({ events }) => events);

/** What somebody wants who has not said what they want: all that asks for something, and not every fill. */
export const USUAL: readonly EventKind[] = EVERY.map(([kind]) => kind).filter((kind) => kind !== 'fill');

export function eventsInWords(events: readonly EventKind[]): string {
  if (events.length === 0) return 'nothing';
  if (events.length === EVERY.length) return 'everything';
  const missing = EVERY.filter(([kind]) => !events.includes(kind));
  if (missing.length <= 2) return `everything but ${missing.map(([, words]) => words).join(' and ')}`;
  if (events.length <= 3)
    return EVERY.filter(([kind]) => events.includes(kind))
      .map(([, words]) => words)
      .join(', ');
  return `${events.length} of ${EVERY.length} kinds of events`;
}

export const eventInWords = (kind: string): string =>
  EVERY.find(([each]) => each === kind)?.[1] ?? (kind === 'test' ? 'a test' : kind.replaceAll('_', ' '));

export const KINDS: readonly { readonly kind: Kind; readonly name: string; readonly where: string }[] = [
  {
    kind: 'telegram',
    name: 'Telegram',
    where:
      'Write /newbot to @BotFather for a bot and its token. Write a word to your bot, or add it to a group; @userinfobot tells the chat’s id.',
  },
  {
    kind: 'discord',
    name: 'Discord',
    where: 'In the channel’s settings: Integrations, Webhooks, New webhook, Copy webhook URL.',
  },
  {
    kind: 'slack',
    name: 'Slack',
    where: 'At api.slack.com/apps: your app, Incoming Webhooks, Add New Webhook to Workspace.',
  },
  {
    kind: 'webhook',
    name: 'Webhook',
    where:
      'Your own server, by https. Requests are signed as Standard Webhooks says; the secret is shown once, when it is added.',
  },
];

export const kindInWords = (kind: string): string => KINDS.find((each) => each.kind === kind)?.name ?? kind;

/** For the mark before it. */
export const SEVERITY: Readonly<Record<Destination['state'], 'good' | 'usual' | 'act'>> = {
  new: 'usual',
  working: 'good',
  failing: 'act',
  dead: 'act',
  paused: 'usual',
};

export const STATE: Readonly<Record<Destination['state'], string>> = {
  new: 'nothing delivered yet, added',
  working: 'working since',
  failing: 'failing since',
  dead: 'dead since',
  paused: 'paused since',
};

/** null: nothing. */
export function whatToDo({
  state,
  kind,
  paused_because,
}: Pick<Destination, 'state' | 'kind'> & Partial<Pick<Destination, 'paused_because'>>): string | null {
  if (paused_because)
    return 'Nothing is sent there until you confirm it: somebody else may have been in your account, and may have added it. If it is not yours, remove it.';
  if (state === 'failing')
    return kind === 'telegram'
      ? 'Events are tried again for a day; a test is not. Check that the bot may write to the chat, then send a test. If the token or the chat is wrong, remove the destination and add it again.'
      : 'Events are tried again for a day; a test is not. Check that something answers there, then send a test. If the address is wrong, remove the destination and add it again.';
  if (state !== 'dead') return null;
  return kind === 'telegram'
    ? 'Nothing more is sent there. Let the bot write to the chat again, then send a test; or remove it and add another.'
    : 'Nothing more is sent there. Repair it and send a test, which starts it again; or remove it and add another.';
}

export type AddressField = 'url' | 'bot_token' | 'chat_id';

export const ADDRESS_LABELS: Readonly<Record<AddressField, string>> = {
  url: 'Address',
  bot_token: 'Bot token',
  chat_id: 'Chat id',
};

/** A refused address, at its field and by the name that the field has on the page; null: it is about something else. */
export function refusedField(problem: {
  readonly code: string;
  readonly detail: string;
}): { readonly field: AddressField; readonly words: string } | null {
  if (problem.code !== 'notification_address_invalid') return null;
  const [, name, rest] = /^(url|bot_token|chat_id) (.*)$/s.exec(problem.detail) ?? [];
  if (name === undefined) return null;
  const field = name as AddressField;
  return { field, words: `The ${ADDRESS_LABELS[field].toLowerCase()} ${rest}` };
}

/** null: it is not known yet. */
export const mailInWords = (mail: boolean | null): string | null =>
  mail === null
    ? null
    : mail
      ? 'Mails about missed alerts, positions that are not the strategy’s, silence and attacks are sent besides.'
      : 'No mails are sent: this service has no mail server. Its operator sets one with SMTP_URL.';

/** `mail`: whether the service can send any; null: that is not known yet. */
export function answerOf(
  destinations: readonly Pick<Destination, 'state'>[],
  { mail }: { readonly mail: boolean | null },
): {
  lead: string;
  rest: string;
} {
  const dead = destinations.filter(({ state }) => state === 'dead').length;
  const failing = destinations.filter(({ state }) => state === 'failing').length;
  if (destinations.length === 0)
    return mail === null
      ? { lead: 'No destinations', rest: '' }
      : { lead: mail ? 'Only mail' : 'Nothing', rest: ' tells you when something happens' };
  if (dead > 0)
    return { lead: dead === 1 ? '1 destination is dead' : `${dead} destinations are dead`, rest: '' };
  if (failing > 0)
    return {
      lead: failing === 1 ? '1 destination is failing' : `${failing} destinations are failing`,
      rest: '',
    };
  const count = destinations.length;
  return {
    lead: count === 1 ? '1 destination' : `${count} destinations`,
    rest: mail === null ? '' : mail ? ' beside mail' : ', and no mail',
  };
}
