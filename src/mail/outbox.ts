// Mail without a server: each one is an .eml file that any mail program opens, and any text editor. Readable by its
// owner alone, since a mail may hold a link for a new password.

import { randomUUIDv7 } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.ts';

export function openOutbox({ folder, from }: { folder: string; from: string }): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send({ to, subject, text, html }) {
      const alternatives = [asItIs('text/plain', text), asItIs('text/html', html)];
      const { message } = await composer.sendMail({ from, to, subject, alternatives });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // By time, as the ids are; and whole as soon as it has its name.
      const file = join(folder, `${randomUUIDv7()}.eml`);
      await writeFile(`${file}.draft`, message, { mode: 0o600 });
      await rename(`${file}.draft`, file);
    },
  };
}

/** Never encoded: no server is on its way that could break a long line, and a link can be copied out of the file. */
const asItIs = (type: string, content: string) => ({
  raw: `Content-Type: ${type}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n${content}`,
});
