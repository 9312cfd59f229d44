// From sealed credentials to the order history, at a broker's stub: what a user of that broker goes through.

import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import type { TestContext } from 'node:test';
import { CompactEncrypt } from 'jose';
import type { ShownAccount } from '../../src/app/accounts/accounts.ts';
import type { SealingKey } from '../../src/domain/identity/sealed.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openWorld, type Problem, type Trader } from '../world.ts';
import type { StubAccount } from './stub-harness.ts';

type Made = ShownAccount & { readonly webhook_secret: string };

interface Journey {
  readonly broker: string;
  readonly url: string;
  readonly environment?: string;
  /** So far apart fills are verified. */
  readonly pollSeconds?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A world whose broker of that name is the stub, and an account of a new user there. */
export async function journey(
  t: TestContext,
  { broker, url, environment, pollSeconds = 0.05, env }: Journey,
) {
  const world = await openWorld(t, {
    env: {
      BROKER_URLS: JSON.stringify({ [broker]: url }),
      FILL_FIRST_POLL_SECONDS: `${pollSeconds}`,
      FILL_REQUEUE_SECONDS: `${pollSeconds}`,
      BROKER_TIMEOUT_SECONDS: '2',
      ...env,
    },
  });
  const owner = await world.makeTrader({ isAdmin: true });

  async function openAccount(more: object = {}): Promise<Trader> {
    const body = { name: 'Mine', broker, ...(environment && { environment }), ...more };
    const made = await world.as<Made>(owner, 'POST', '/trading/accounts', body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const account = {
      ...owner.account,
      id: made.body.id as Trader['account']['id'],
      webhookToken: made.body.webhook_token,
    };
    return { ...owner, account, secret: made.body.webhook_secret };
  }

  async function putKeys(trader: Trader, credentials: object): Promise<void> {
    const { body: key } = await world.request<SealingKey>({ method: 'GET', url: '/auth/public-key' });
    const { kty, crv, x, y, kid, alg } = key;
    const content = { user_id: trader.user.id, trading_account_id: trader.account.id, credentials };
    const sealed = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
      .setProtectedHeader({ alg, enc: 'A256GCM', kid })
      .encrypt(createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }));
    const put = await world.as(trader, 'PUT', `/trading/accounts/${trader.account.id}/credentials`, {
      sealed,
    });
    assert.equal(put.status, 200, JSON.stringify(put.body));
  }

  const verify = (trader: Trader) =>
    world.as<ShownAccount & Problem & { warnings?: string[] }>(
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/verify`,
    );

  return {
    world,
    openAccount,
    putKeys,
    verify,

    /** One that can trade. */
    async ready({ credentials }: Pick<StubAccount, 'credentials'>): Promise<Trader> {
      const trader = await openAccount();
      await putKeys(trader, credentials);
      const verified = await verify(trader);
      assert.equal(verified.status, 200, JSON.stringify(verified.body));
      assert.equal(verified.body.broker_credentials_verified, true);
      return trader;
    },

    /** Asks for the order until it is so. */
    async until(trader: Trader, id: string, isSo: (order: OrderRecord) => boolean): Promise<OrderRecord> {
      const start = Date.now();
      for (;;) {
        const order = await world.order(trader, id);
        if (isSo(order)) return order;
        assert.ok(Date.now() - start < 20_000, `it does not happen: ${JSON.stringify(order)}`);
      }
    },

    ask: <Body>(trader: Trader, rest: string) =>
      world.as<Body>(trader, 'GET', `/trading/accounts/${trader.account.id}/${rest}`),
  };
}
