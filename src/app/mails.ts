// The words of our mails.

import type { Mail } from '../mail/mailer.ts';

type Words = Omit<Mail, 'to'>;

export function resetMail({ link, minutes }: { link: string; minutes: number }): Words {
  const before =
    'Somebody, probably you, asked for a new password for your Fillpath account. Choose it here:';
  const after = `The link works once, for ${minutes} minutes. Setting a new password ends every session. If it was not you, do nothing: your password stays as it is.`;
  return {
    subject: 'Choose a new password',
    text: `${wrapped(before)}\n\n${link}\n\n${wrapped(after)}\n`,
    html: `<p>${before}</p><p><a href="${escaped(link)}">${escaped(link)}</a></p><p>${after}</p>`,
  };
}

const wrapped = (text: string): string => text.replace(/(.{1,72})(?: |$)/g, '$1\n').trimEnd();

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
