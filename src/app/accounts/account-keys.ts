// What opens a trading account: its webhook's address and secret, and the broker's credentials.

import { changeAccount, storeCredentials } from '../../data/accounts/accounts.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type SealingKey, sealProblem } from '../../domain/identity/sealed.ts';
import { timestamp } from '../../domain/ids.ts';
import { writeAudit } from '../audit/audit.ts';
import { randomToken, type SecretBox } from '../secret-box.ts';
import {
  type AccountDeps,
  changeOwn,
  type Owner,
  ownAccount,
  type ShownAccount,
  type WithSecret,
} from './accounts.ts';

interface WebhookSecret {
  readonly webhook_secret: string;
}

interface Showing extends Pick<AccountDeps, 'db' | 'clock'> {
  readonly secrets: SecretBox;
}

/** The old one stops at once. */
export async function regenerateSecret(
  deps: AccountDeps & { readonly secrets: SecretBox },
  owner: Owner,
  id: string,
): Promise<WithSecret | Denial> {
  const secret = randomToken();
  const shown = await changeOwn(deps, owner, id, 'webhook_secret_regenerated', (account) =>
    changeAccount(account, {
      webhookSecret: deps.secrets.seal(secret, account),
      madeAt: timestamp(deps.clock.now()),
    }),
  );
  return isDenial(shown) ? shown : { ...shown, webhook_secret: secret };
}

/** The old one, and with it the old URL, stops at once. */
export function regenerateToken(deps: AccountDeps, owner: Owner, id: string): Promise<ShownAccount | Denial> {
  return changeOwn(deps, owner, id, 'webhook_token_regenerated', (account) =>
    changeAccount(account, { webhookToken: randomToken(), madeAt: timestamp(deps.clock.now()) }),
  );
}

export async function revealSecret(deps: Showing, owner: Owner, id: string): Promise<WebhookSecret | Denial> {
  const own = await ownAccount(deps, owner.id, id);
  if (isDenial(own)) return own;
  const { id: account, webhookSecret } = own;
  return shownSecret(deps, owner, 'webhook_secret_shown', { type: 'account', id: account, webhookSecret });
}

/** Stored as it came: whether the broker takes what is inside, only a worker can find out. */
export async function replaceCredentials(
  deps: AccountDeps & { readonly sealingKey: SealingKey },
  owner: Owner,
  id: string,
  sealed: string,
): Promise<ShownAccount | Denial> {
  const problem = sealProblem(sealed, deps.sealingKey);
  if (problem !== null) return deny('credentials_invalid', { detail: problem });
  return changeOwn(deps, owner, id, 'credentials_stored', (account) => storeCredentials(account, sealed));
}

/** Of an account or a group. First the entry, then the secret: nobody sees it without a trace. */
export async function shownSecret(
  deps: Showing,
  owner: Owner,
  action: string,
  { type, id, webhookSecret }: { readonly type: string; readonly id: string; readonly webhookSecret: string },
): Promise<WebhookSecret> {
  await writeAudit(deps, owner.context, { userId: owner.id, action, failure: null, resource: { type, id } });
  return { webhook_secret: deps.secrets.open(webhookSecret, id) };
}
