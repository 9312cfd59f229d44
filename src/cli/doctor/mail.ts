// The mail server: reached, and logged in to, and no mail is sent.

import { createTransport } from 'nodemailer';
import type { Config } from '../../config/config.ts';
import { type Check, type Finding, found, whyUnreachable } from './finding.ts';

const PATIENCE_MS = 5_000;

export const mailCheck: Check = { area: 'mail', about: 'the mail server', look: mailFindings };

async function mailFindings({ mail: { smtpUrl }, role }: Config): Promise<Finding[]> {
  if (smtpUrl === undefined || role === 'worker' || role === 'verifier') return [];
  const wrong = found('mail');
  const { hostname, username, protocol, host } = new URL(smtpUrl);
  const patience = {
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  };
  const verify = async (more: object) => {
    const transport = createTransport({ url: smtpUrl, ...patience, ...more });
    try {
      await transport.verify();
      return null;
    } catch (fault) {
      return fault as Error & { code?: string; responseCode?: number };
    } finally {
      transport.close();
    }
  };
  const fault = await verify({});
  if (fault?.code === 'EAUTH')
    return [
      wrong(
        `The mail server ${host} refuses the login as ${decodeURIComponent(username) || 'nobody'}.`,
        'Correct the user name and the password in SMTP_URL; in it, @ is written %40, / is %2F and : is %3A.',
      ),
    ];
  if (fault)
    return [
      wrong(
        `The mail server ${host} cannot be used: ${whyUnreachable(fault)}.`,
        'Correct SMTP_URL, or let the connection through: smtp://host:587 starts unencrypted and switches to TLS, smtps://host:465 is TLS from the start.',
      ),
    ];
  const isLocal = hostname === 'localhost' || hostname.startsWith('127.');
  if (protocol === 'smtps:' || username === '') return [];
  const withoutTls = await verify({ requireTLS: true });
  if (!withoutTls) return [];
  return [
    wrong(
      `The mail server ${host} offers no STARTTLS${isLocal ? '' : ', and the password is sent to it unencrypted'}.`,
      'Use smtps:// with port 465, another server, or one on this machine that needs no password.',
    ),
  ];
}
