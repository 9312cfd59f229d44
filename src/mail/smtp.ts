// Mail by SMTP. Every wait has an end: a mail server that is dead or slow costs some seconds in the background, and
// closing cuts off whatever is under way.

import { Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import type { Mail, Mailer } from './mailer.ts';

const PATIENCE_MS = 10_000;
/** For one mail as a whole: a server that says a word now and then is never silent for long. */
const LONGEST_MS = 30_000;
/** Servers refuse a client with many connections. */
const MOST_AT_ONCE = 5;
const MOST_WAITING = 1_000;

export interface SmtpOptions {
  readonly url: string;
  readonly from: string;
  readonly patienceMs?: number;
  readonly longestMs?: number;
}

export function openSmtp(options: SmtpOptions): Mailer & { close(): void } {
  const { url, from, patienceMs = PATIENCE_MS, longestMs = LONGEST_MS } = options;
  const sockets = new Set<Socket>();
  const line: (() => void)[] = [];
  let underWay = 0;
  let isOpen = true;

  /** A connection of its own for each mail; a socket of ours, so that it can be cut off at any moment. */
  async function transmit({ to, subject, text, html }: Mail): Promise<void> {
    if (!isOpen) throw new Error('the mailer is closed');
    const socket = new Socket();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const timer = setTimeout(() => socket.destroy(new Error('the mail server took too long')), longestMs);
    try {
      const transport = createTransport({
        url,
        socket,
        connectionTimeout: patienceMs,
        greetingTimeout: patienceMs,
        socketTimeout: patienceMs,
        // Nothing in our mails is a file or a URL to fetch.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      // As an object, an address is one address, whatever is in it.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text, html });
    } catch (fault) {
      socket.destroy();
      sockets.delete(socket);
      throw fault;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async send(mail) {
      if (underWay < MOST_AT_ONCE) underWay++;
      else if (line.length < MOST_WAITING) await new Promise<void>((resolve) => line.push(resolve));
      else throw new Error('too many mails wait for the mail server');
      try {
        await transmit(mail);
      } finally {
        // The place goes to the next in line.
        const next = line.shift();
        if (next) next();
        else underWay--;
      }
    },
    close() {
      isOpen = false;
      for (const socket of sockets) socket.destroy(new Error('the mailer is closed'));
    },
  };
}
