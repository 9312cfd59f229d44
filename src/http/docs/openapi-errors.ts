// Which errors a route can answer: its own denials, and those that follow from what it is.

import { type DenialCode, detailOf, ruleOf } from '../../domain/denial.ts';
import { DENIALS } from '../../domain/denials.ts';
import { isHeldBack } from '../admission.ts';
import { CHANGING, type Route } from '../guards.ts';
import { isOpenToAll } from '../middleware.ts';
import { INTERNAL_ERROR, type Problem, wrongType } from '../problem.ts';

/** One way to fail, as its problem document says it. */
export interface Failure extends Problem {
  /** Of its example in the document; the code, unless that one is used for another status too. */
  readonly name: string;
}

const ofDenial = (code: DenialCode): Failure => {
  const { status, title, advice } = ruleOf(code);
  return { name: code, status, code, title, detail: detailOf(ruleOf(code)), advice };
};

const WRONG_CONTENT_TYPE: Failure = {
  name: 'unsupported_content_type',
  code: 'request_invalid',
  title: DENIALS.request_invalid.title,
  ...wrongType('text/plain', ['application/json']),
};
const FAULT: Failure = { name: INTERNAL_ERROR.code, ...INTERNAL_ERROR };

const inOrder = (a: Failure, b: Failure): number => a.status - b.status || (a.name < b.name ? -1 : 1);

/** Every error that any route may answer with. */
export const FAILURES: readonly Failure[] = [
  ...(Object.keys(DENIALS) as DenialCode[]).map(ofDenial),
  WRONG_CONTENT_TYPE,
  FAULT,
].sort(inOrder);

export function failuresOf(route: Route): Failure[] {
  const { answers, denials = [] } = route.doc;
  const byNature = [...denials, ...byAccess(route), ...byPath(route), ...byLength(route)].map(ofDenial);
  // A route with a shape of its own for a status answers whatever happens inside it in that shape.
  const inside = [...byReading(route), FAULT].filter(({ status }) => !(status in answers));
  const failures = new Map([...byNature, ...inside].map((failure) => [failure.name, failure]));
  return [...failures.values()].sort(inOrder);
}

function byAccess({ access, method }: Route): DenialCode[] {
  if (access === 'open') return [];
  if (access === 'admin_ip') return ['wrong_host', 'ip_not_allowed'];
  return [
    'unauthenticated',
    'user_deactivated',
    // Whoever is asking is looked up first.
    'database_unavailable',
    // What acts has a limit of its own; what reads, one of how much is under way.
    ...(CHANGING.has(method) ? (['csrf_validation_failed'] as const) : (['too_many_at_once'] as const)),
    ...(access === 'session' ? (['session_required'] as const) : []),
    ...(access === 'admin' ? (['wrong_host', 'ip_not_allowed', 'admin_required'] as const) : []),
  ];
}

function byPath(route: Route): DenialCode[] {
  return [
    'edge_rate_limited',
    ...(isOpenToAll(route.url) ? [] : (['origin_not_allowed'] as const)),
    ...(isHeldBack(route) ? (['rate_limited', 'ip_not_allowed'] as const) : []),
  ];
}

/** What comes page by page is read apart from the rest, and not for long. */
const byLength = ({ query }: Route): DenialCode[] =>
  'cursor' in (query?.properties ?? {}) ? ['list_too_slow'] : [];

function byReading({ body, ignoresQuery }: Route): Failure[] {
  // Whatever else a call takes, it takes no unknown parameter; only pages and probes do.
  const invalid = ignoresQuery ? [] : [ofDenial('request_invalid')];
  return body ? [...invalid, ofDenial('payload_too_large'), WRONG_CONTENT_TYPE] : invalid;
}
