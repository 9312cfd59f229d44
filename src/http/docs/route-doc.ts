// What a route tells of itself for its documentation, beside its schemas and its access: its name, its parameters, the schemas
// of its answers, and the denials that are its own. A route that does not is not registered. The denials that follow from its
// access, body and path are added by openapi-errors.ts.

import type { TSchema } from 'typebox';
import type { DenialCode } from '../../domain/denial.ts';

/** The chapters of the documentation, in its order. */
export const TAGS = {
  Webhook: 'Where a charting platform sends its signals.',
  Orders: 'Orders of your own, and what became of every order.',
  Signals: 'What arrived at the webhooks and what became of it; what would become of a message.',
  'Trading accounts': 'Accounts at brokers: their webhooks, credentials, positions and the kill switch.',
  Groups: 'One signal for several of your accounts.',
  Settings: 'API keys, allowed addresses, the terms, the plan, and who knocked at the door.',
  Notifications: 'Where you want to be told of failures, fills, attacks and the day, beside mail.',
  Authentication: 'Registering, logging in and out, sessions, tokens for programs.',
  'Second factor': 'An authenticator app besides the password.',
  Public: 'What anybody may know.',
  Administration: 'For operators, from the addresses in ADMIN_IPS.',
  Service: 'The service itself: its health and its documentation.',
} as const;
type Tag = keyof typeof TAGS;

/** Null: no body. */
export type Answer =
  | TSchema
  | null
  | {
      readonly text: string;
      readonly schema: TSchema | null;
      readonly headers?: Readonly<Record<string, string>>;
      /** What its example has in the place of the schema's own values. */
      readonly example?: Readonly<Record<string, unknown>>;
    };

export interface RouteDoc {
  /** What a generated client calls it; also its place on the page. It never changes. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  /** What the schemas do not say. */
  readonly description?: string;
  /** What each place in the URL is. */
  readonly params?: Readonly<Record<string, string>>;
  /** By status. Errors stand here only where they have another shape than a problem. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Without those that follow from the route's access, its body and its path: openapi-errors.ts adds them. */
  readonly denials?: readonly DenialCode[];
  /** Shapes that the route reads by its own rules and not by a schema. */
  readonly reads?: { readonly body?: TSchema; readonly query?: TSchema };
  /** The content types of the body and of the answers, where they are not JSON. */
  readonly bodyTypes?: readonly string[];
  /** It has no field that must be there, and yet nothing comes of a request without it. */
  readonly needsBody?: true;
  readonly answerType?: string;
  /** `Accept: text/csv` gets the list as CSV, all of it. */
  readonly csv?: true;
  /** Instead of what follows from the access: the one scheme that opens it. */
  readonly opensWith?: 'refresh_cookie';
}

/** The parameters in a route's URL: /trading/accounts/:id → id. */
export const placesIn = (url: string): string[] => [...url.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/** What is missing in a route's documentation; null: nothing. */
export function docProblem(url: string, doc: RouteDoc | undefined): string | null {
  if (!doc) return 'does not say what its documentation is made from';
  const missing = placesIn(url).filter((name) => !doc.params?.[name]);
  return missing.length > 0 ? `does not say what :${missing.join(' and :')} is` : null;
}
