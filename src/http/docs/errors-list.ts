// ERRORS.md: every error in one list, made from the tables that answer them.

import { DENIALS, type DenialCode, ruleOf } from '../../domain/denial.ts';
import { REJECTIONS } from '../../domain/rejection.ts';
import { FAILURES, type Failure } from './openapi-errors.ts';

const COMMAND = 'npm run --silent cli -- errors > ERRORS.md';

export function errorsList(): string {
  return `# Errors

Made by \`${COMMAND}\` from the tables in \`src/domain/\`; a test fails where this file differs from them.

## What the service refuses

The answer is \`application/problem+json\` (RFC 9457) with this \`code\` and \`status\`, and a \`detail\` that says what to do;
where more is known than stands here, it says more. A 429 and a 503 carry \`Retry-After\`, in seconds. A refusal without an
audit action of its own is logged under the action of the attempt, such as \`webhook_order\` or \`login\`. An alert is a mail
to the user, at most one in 30 minutes.

${table(
  ['code', 'status', 'what happened', 'what to do', 'audit action', 'alert'],
  FAILURES.map((failure) => [
    `\`${failure.code}\``,
    String(failure.status),
    failure.title,
    failure.advice ?? failure.detail,
    ...audited(failure),
  ]),
)}

\`request_invalid\` also comes with 408 (the request trickled in too slowly) and 431 (its headers or its URL are too long), where
the request could not be read to its end.

POST /auth/token answers in OAuth2's shape (RFC 6749, 5.2) instead: \`{"error", "error_description"}\`, with 400 and
\`invalid_request\`, \`invalid_grant\` or \`unsupported_grant_type\`, and with \`temporarily_unavailable\` where another try will help.

## What a broker rejects

An order that the broker rejects is answered with 200, and its OrderResult has one of these codes in \`error\`, with a
\`message\` for a person. The codes at the end of the list are found later, by fill verification.

${table(
  ['code', 'what happened, and what to do'],
  Object.entries(REJECTIONS).map(([code, meaning]) => [`\`${code}\``, meaning]),
)}
`;
}

function audited({ name }: Failure): [action: string, alert: string] {
  if (!(name in DENIALS)) return ['', ''];
  const { audit, alert } = ruleOf(name as DenialCode);
  return [audit ? `\`${audit}\`` : '', alert ? 'yes' : ''];
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|');
