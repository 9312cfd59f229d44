// What anybody may know before logging in.

import type { FastifyInstance } from 'fastify';
import { BROKER_NAMES, showBroker } from '../../domain/brokers.ts';
import type { Denial } from '../../domain/denial.ts';
import type { SealingKey } from '../../domain/identity/sealed.ts';
import { answer } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { Brokers, Plans, PublicConfig, SealingKey as SealingKeySchema, Terms } from '../schemas/answers.ts';

export interface PublicRoutes {
  readPlans(): object;
  readTerms(): Promise<Denial | object>;
  /** Null: no bot challenge. */
  readonly captcha: { readonly provider: string; readonly siteKey: string } | null;
  /** How to log in to the demo; null: this is none. */
  readonly demo: { readonly email: string; readonly password: string } | null;
  /** The operator has a mail server; without one a mail is a file on the service's disk. */
  readonly canMail: boolean;
  readonly verifyEmail: boolean;
  /** To which clients seal broker credentials. */
  readonly sealingKey: SealingKey;
}

export function publicRoutes(server: FastifyInstance, deps: PublicRoutes): void {
  const open = (doc: Omit<RouteDoc, 'tag'>) =>
    ({ config: { access: 'open', doc: { tag: 'Public', ...doc } } }) as const;
  const { captcha, demo, canMail, sealingKey } = deps;

  server.get(
    '/public/plans',
    open({ id: 'listPlans', summary: 'List the plans', answers: { 200: Plans } }),
    async () => deps.readPlans(),
  );

  server.get(
    '/public/brokers',
    open({
      id: 'listBrokers',
      summary: 'List the brokers',
      description: 'Each with what an account needs there, and what it can promise.',
      answers: { 200: Brokers },
    }),
    async () => ({ items: BROKER_NAMES.map(showBroker) }),
  );

  server.get(
    '/public/terms',
    open({
      id: 'readTerms',
      summary: 'Read the terms of service',
      answers: { 200: Terms },
      denials: ['not_found', 'database_unavailable'],
    }),
    async (request, reply) => answer(request, reply, await deps.readTerms()),
  );

  server.get(
    '/public/config',
    open({
      id: 'readPublicConfig',
      summary: 'Read what a login page needs',
      answers: { 200: PublicConfig },
    }),
    async () => ({
      captcha: captcha && { provider: captcha.provider, site_key: captcha.siteKey },
      demo: demo && { email: demo.email, password: demo.password },
      mail: canMail,
      verify_email: deps.verifyEmail,
    }),
  );

  server.get(
    '/auth/public-key',
    open({
      id: 'readPublicKey',
      summary: 'Read the key that seals broker credentials',
      answers: { 200: SealingKeySchema },
    }),
    async () => sealingKey,
  );
}
