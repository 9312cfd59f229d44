// A dead destination cannot tell of its own death: its owner is mailed, once.

import type { Db } from '../../data/engine/db.ts';
import { noteMailed, unmailedDead } from '../../data/notifications/destinations.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { deadDestinationMail } from '../audit/mails.ts';

export interface DeadMailDeps {
  readonly db: Db;
  readonly mailer: Mailer;
  readonly baseUrl: string;
  readonly log: { warn(context: object, text: string): void };
}

const AT_ONCE = 20;

export async function mailDead({ db, mailer, baseUrl, log }: DeadMailDeps): Promise<void> {
  for (const dead of await unmailedDead(db, AT_ONCE)) {
    if ((await db.commit([noteMailed(dead)])) !== null) continue;
    // One that is lost is not sent again: the dashboard says the same.
    await mailer
      .send({ to: dead.email, ...deadDestinationMail({ ...dead, baseUrl }) })
      .catch((fault: unknown) => log.warn({ fault, destination: dead.id }, 'a mail could not be sent'));
  }
}
