// What anybody may know before logging in.

import type { FastifyInstance } from 'fastify';
import type { Denial } from '../domain/denial.ts';
import type { SealingKey } from '../domain/sealed.ts';
import { answer } from './answers.ts';

export interface PublicRoutes {
  readPlans(): object;
  readTerms(): Promise<Denial | object>;
  /** Null: no bot challenge. */
  readonly captcha: { readonly provider: string; readonly siteKey: string } | null;
  /** To which clients seal broker credentials. */
  readonly sealingKey: SealingKey;
}

export function publicRoutes(server: FastifyInstance, deps: PublicRoutes): void {
  const open = { config: { access: 'open' } } as const;
  const { captcha, sealingKey } = deps;

  server.get('/public/plans', open, async () => deps.readPlans());

  server.get('/public/terms', open, async (request, reply) => answer(request, reply, await deps.readTerms()));

  server.get('/public/config', open, async () => ({
    captcha: captcha && { provider: captcha.provider, site_key: captcha.siteKey },
  }));

  server.get('/auth/public-key', open, async () => sealingKey);
}
