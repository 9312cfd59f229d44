// The words of our mails.

import { ATTACK_WORDS } from '../../domain/told/events.ts';
import { NOTICE_TITLES, type NoticeKind } from '../../domain/told/notice.ts';
import type { Mail } from '../../mail/mailer.ts';

type Words = Omit<Mail, 'to' | 'purpose'>;

export function resetMail({ link, minutes }: { link: string; minutes: number }): Words {
  const before =
    'Somebody, probably you, asked for a new password for your Fillpath account. Choose it here:';
  const after = `The link works once, for ${minutes} minutes. Setting a new password ends every session and revokes every API key, and pauses notifications until you confirm them; your webhooks go on. If it was not you, do nothing: your password stays as it is.`;
  return {
    subject: 'Choose a new password',
    text: `${wrapped(before)}\n\n${link}\n\n${wrapped(after)}\n`,
    html: `<p>${before}</p><p><a href="${escaped(link)}">${escaped(link)}</a></p><p>${after}</p>`,
  };
}

/** `isTaken`: somebody else registered the address before. */
export function verificationMail(verification: {
  readonly link: string;
  readonly email: string;
  readonly hours: number;
  readonly isTaken: boolean;
}): Words {
  const { link, email, hours } = verification;
  const before = `Somebody, probably you, registered ${email} at Fillpath. If it was you, confirm that the address is yours:`;
  const taken = verification.isTaken
    ? ' Somebody registered it before and did not confirm it: with this link it is yours, with the password of this registration, and what was made under it before is gone.'
    : '';
  const after = `The link works once, for ${hours} hours.${taken} If it was not you, do nothing: nobody is written to again before the address is confirmed.`;
  return {
    subject: 'Confirm your address',
    text: `${wrapped(before)}\n\n${link}\n\n${wrapped(after)}\n`,
    html: `<p>${escaped(before)}</p><p><a href="${escaped(link)}">${escaped(link)}</a></p><p>${escaped(after)}</p>`,
  };
}

export function passwordChangedMail(changed: {
  readonly at: string;
  readonly ip: string;
  readonly baseUrl: string;
}): Words {
  const before = `The password of your Fillpath account was changed at ${changed.at} (UTC), from the address ${changed.ip}. Every other session has ended; your API keys keep working.`;
  const after =
    'If it was you, nothing needs doing. If it was not, set a new password at once, which also revokes every API key:';
  const link = `${changed.baseUrl}/forgot-password`;
  return {
    subject: 'Your password was changed',
    text: `${wrapped(before)}\n\n${wrapped(after)}\n\n${link}\n`,
    html: `<p>${escaped(before)}</p><p>${after}</p><p><a href="${escaped(link)}">${escaped(link)}</a></p>`,
  };
}

export function alertMail(attack: {
  readonly attackType: string;
  readonly accountName: string | null;
  readonly ip: string;
  readonly at: string;
  readonly detail: string;
  readonly baseUrl: string;
  readonly intervalMs: number;
}): Words {
  const description = ATTACK_WORDS[attack.attackType] ?? attack.detail;
  const facts: readonly (readonly [string, string])[] = [
    ['Attack type', attack.attackType],
    ['Source IP', attack.ip],
    ['Time (UTC)', attack.at],
    ['Account', attack.accountName ?? 'none named'],
    ['Description', description],
  ];
  const before = 'Fillpath refused a request to your account. Nothing was traded.';
  const after = `If it was you, correct your alert. If not, regenerate the webhook secret. All events are listed on the page Security: ${attack.baseUrl}/security. At most one such mail is sent in ${attack.intervalMs / 60_000} minutes.`;
  return {
    subject: `Security alert: ${attack.attackType}`,
    text: `${before}\n\n${facts.map(([name, value]) => wrapped(`${name}: ${oneLine(value)}`)).join('\n')}\n\n${wrapped(after)}\n`,
    html: `<p>${before}</p><table>${facts
      .map(([name, value]) => `<tr><th align="left">${name}</th><td>${escaped(oneLine(value))}</td></tr>`)
      .join('')}</table><p>${escaped(after)}</p>`,
  };
}

export function noticeMail(notice: {
  readonly kind: NoticeKind;
  readonly accountName: string;
  readonly detail: string;
  readonly createdAt: string;
  readonly baseUrl: string;
}): Words {
  const title = NOTICE_TITLES[notice.kind];
  const facts = [
    ['Account', oneLine(notice.accountName)],
    ['Time (UTC)', notice.createdAt],
  ] as const;
  const after = `What is held, and what the strategy says: ${notice.baseUrl}/positions`;
  return {
    subject: `${title}: ${oneLine(notice.accountName).slice(0, 60)}`,
    text: `${wrapped(notice.detail)}\n\n${facts.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${wrapped(after)}\n`,
    html: `<p>${escaped(notice.detail)}</p><table>${facts
      .map(([name, value]) => `<tr><th align="left">${name}</th><td>${escaped(value)}</td></tr>`)
      .join('')}</table><p>${escaped(after)}</p>`,
  };
}

/** `name` is its owner's, `lastError` ours. */
export function deadDestinationMail(dead: {
  readonly name: string;
  readonly kind: string;
  readonly deadSince: string;
  readonly lastError: string | null;
  readonly baseUrl: string;
}): Words {
  const name = oneLine(dead.name).slice(0, 60);
  const before =
    'Fillpath no longer sends notifications to one of your destinations. Trading is not affected.';
  const facts = [
    ['Destination', `${name} (${dead.kind})`],
    ['Since (UTC)', dead.deadSince],
    ['Reason', oneLine(dead.lastError ?? 'not known')],
  ] as const;
  const after = `Look at it, send a test, or remove it: ${dead.baseUrl}/notifications.`;
  return {
    subject: `Notifications no longer arrive: ${name}`,
    text: `${wrapped(before)}\n\n${facts.map(([fact, value]) => wrapped(`${fact}: ${value}`)).join('\n')}\n\n${wrapped(after)}\n`,
    html: `<p>${before}</p><table>${facts
      .map(([fact, value]) => `<tr><th align="left">${fact}</th><td>${escaped(value)}</td></tr>`)
      .join('')}</table><p>${escaped(after)}</p>`,
  };
}

/** A name chosen by somebody must not lay out our mail. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

const wrapped = (text: string): string => text.replace(/(.{1,72})(?: |$)/g, '$1\n').trimEnd();

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
