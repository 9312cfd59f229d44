// Every link in a mail opens a page of the dashboard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as mails from '../../src/app/audit/mails.ts';
import { NOTICE_TITLES, type NoticeKind } from '../../src/domain/told/notice.ts';
import { isPage } from '../../src/http/pages.ts';

const baseUrl = 'https://fillpath.example.com';
const at = '2026-11-16T14:30:00.000Z';

const EVERY: Readonly<Record<keyof typeof mails, readonly { text: string; html: string }[]>> = {
  resetMail: [mails.resetMail({ link: `${baseUrl}/reset-password?token=x`, minutes: 30 })],
  verificationMail: [true, false].map((isTaken) =>
    mails.verificationMail({
      ...{ link: `${baseUrl}/verify-email?token=x`, email: 'ann@example.com', hours: 24, isTaken },
    }),
  ),
  passwordChangedMail: [mails.passwordChangedMail({ at, ip: '203.0.113.7', baseUrl })],
  alertMail: [
    mails.alertMail({
      ...{ attackType: 'webhook_ip_blocked', accountName: 'Futures', ip: '203.0.113.7', at, detail: 'x' },
      ...{ baseUrl, intervalMs: 60_000 },
    }),
  ],
  deadDestinationMail: [
    mails.deadDestinationMail({ name: 'Desk', kind: 'slack', deadSince: at, lastError: 'gone', baseUrl }),
  ],
  noticeMail: (Object.keys(NOTICE_TITLES) as NoticeKind[]).map((kind) =>
    mails.noticeMail({ kind, accountName: 'Futures', detail: 'x', createdAt: at, baseUrl }),
  ),
};

for (const [name, words] of Object.entries(EVERY))
  test(`every link of ${name} opens a page, and there is one`, () => {
    for (const { text, html } of words)
      for (const body of [text, html]) {
        const links = body.match(/https:\/\/[^\s"<]+/g) ?? [];
        assert.ok(links.length > 0, body);
        for (const link of links) {
          const { origin, pathname } = new URL(link.replace(/\.$/, ''));
          assert.equal(origin, baseUrl);
          assert.ok(pathname !== '/' && isPage(pathname), link);
        }
      }
  });
