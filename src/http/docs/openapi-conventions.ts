// What holds for all calls, said once: the description of the document, and the beginning of the page. Markdown, as far
// as docs-html.ts reads it.

import { REJECTIONS } from '../../domain/orders/rejection.ts';

export const CONVENTIONS = `Fillpath takes signals from a charting platform, or orders of your own, and executes them on your broker accounts: proven genuine, exactly once, and followed until they are filled.

## Conventions

- Bodies are JSON. Field names are snake_case, times are RFC 3339 in UTC with milliseconds and \`Z\`, ids are UUIDs.
- Quantities and prices are exact. A number with more than 15 significant digits is refused.
- A query parameter that a call does not know, or that is given twice, is refused with 400. So is a field of the body, except by the webhook and by POST /auth/token, which ignore it. Answers may gain fields: ignore those that you do not know.
- A creation answers 201 with the thing made, an action without an answer 204, the rest 200.
- Lists take \`limit\` (1 to 200, 50 by default) and \`cursor\`, and answer \`items\` and \`next_cursor\`; null: this was the last page. A page of large items may have fewer than the limit.
- Where a list is also to be had as \`text/csv\`, a request that asks for it by \`Accept\` gets the whole filtered list, whatever \`limit\` and \`cursor\` say. A text that a spreadsheet would take for a formula has an apostrophe before it.
- Every GET also answers HEAD.
- A body may have 64 KiB, a webhook's 16 KiB.

## Who is asking

- A browser logs in with POST /auth/login and sends its cookies by itself; a program gets an access token from POST /auth/token. Both are sessions: every POST, PUT, PATCH and DELETE carries the session's \`csrf_token\` in the header \`X-CSRF-Token\`.
- An API key is sent as \`Authorization: Bearer\`, and needs no CSRF token. It cannot manage sessions, keys, passwords and the second factor, change the allowed addresses, nor show or regenerate a webhook secret or token.
- Where a cookie and a header are both present, the cookie decides.
- A webhook is opened by the token in its URL and, for real trading, by the secret in its body.

## Errors

- Errors are \`application/problem+json\` (RFC 9457). \`code\` is stable and for programs; \`detail\` tells a person what is wrong, \`advice\` what to do, and \`type\` is the address of the page that explains it. POST /auth/token answers in OAuth2's shape instead.
- A 429 and a 503 carry \`Retry-After\`, in seconds. A 503 to an order means that nothing was queued: send it again.
- What the broker rejects is not an error of the call: it answers 200 with an OrderResult whose \`error\` says why.

## What a broker rejects

${Object.entries(REJECTIONS)
  .map(([code, { meaning, advice }]) => `- \`${code}\`: ${meaning} ${advice}`)
  .join('\n')}

## Versions

The service follows semantic versioning. Changes are additive; what must break moves to \`/v2/…\`, and the old path answers with \`Deprecation\` and \`Sunset\` headers for at least six months.`;
