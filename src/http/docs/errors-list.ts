// Every error in one list, made from the tables that answer them: ERRORS.md, and the page under /docs/errors to which the
// type of a problem leads. The anchors of the two are the same.

import { type DenialCode, ruleOf } from '../../domain/denial.ts';
import { DENIALS } from '../../domain/denials.ts';
import { REJECTIONS } from '../../domain/orders/rejection.ts';
import { statusBadge } from './call.ts';
import { framed } from './frame.ts';
import { type Html, html, line } from './html.ts';
import type { About } from './openapi.ts';
import { FAILURES } from './openapi-errors.ts';

interface Explained {
  /** Its place in the list. Of a problem's code it is the code. */
  readonly anchor: string;
  readonly code: string;
  /** Null: it stands in an order, which is answered with 200. */
  readonly status: number | null;
  readonly happened: string;
  readonly advice: string;
  readonly audit?: string | undefined;
  readonly alert?: boolean;
}

/** What the edge of deploy/edge answers by itself, where no code of the service fits. */
const OF_EDGE: readonly Explained[] = [
  {
    anchor: 'edge_blocked',
    code: 'edge_blocked',
    status: 403,
    happened: 'The firewall in front of the service refused the request',
    advice: 'If it is a genuine one, tell the operator the request_id.',
  },
  {
    anchor: 'service_unreachable',
    code: 'service_unreachable',
    status: 502,
    happened: 'The service does not answer the edge in front of it',
    advice: 'See whether your order was taken before you send it again.',
  },
];

const REFUSALS: readonly Explained[] = [
  ...FAILURES.map(({ name, code, status, title, advice }) => ({
    anchor: name,
    code,
    status,
    happened: title,
    advice,
    ...audited(name),
  })),
  ...OF_EDGE,
];

/** A rejection may have a denial's code; it is another thing, at another place. */
const REJECTED: readonly Explained[] = Object.entries(REJECTIONS).map(([code, { meaning, advice }]) => ({
  anchor: `rejection-${code}`,
  code,
  status: null,
  happened: meaning,
  advice,
}));

function audited(name: string): Pick<Explained, 'audit' | 'alert'> {
  if (!(name in DENIALS)) return {};
  const { audit, alert = false } = ruleOf(name as DenialCode);
  return { audit, alert };
}

const TEXTS = {
  refused: `The answer is \`application/problem+json\` (RFC 9457) with this \`code\` and \`status\`; its \`type\` is the address of this list at the code. \`detail\` says what is wrong, \`advice\` what to do; where more is known than stands here, they say more. A 429 and a 503 carry \`Retry-After\`, in seconds. A refusal without an audit action of its own is logged under the action of the attempt, such as \`webhook_order\` or \`login\`. An alert is a mail to the user, at most one in 30 minutes. The last two come from the edge in front of the service.`,
  invalid: `\`request_invalid\` also comes with 408 (the request trickled in too slowly), 417 (an Expect header that is not 100-continue) and 431 (its headers or its URL are too long), and from the edge with 405 and 414.`,
  token: `POST /auth/token answers in OAuth2's shape (RFC 6749, 5.2) instead: \`{"error", "error_description"}\`, with 400 and \`invalid_request\`, \`invalid_grant\` or \`unsupported_grant_type\`, and with \`temporarily_unavailable\` where another try will help.`,
  rejected: `An order that the broker rejects is answered with 200, and its OrderResult has one of these codes in \`error\`, with a \`message\` and an \`advice\` for a person. The codes at the end of the list are found later, by fill verification.`,
};

const COMMAND = 'npm run --silent cli -- errors > ERRORS.md';

export function errorsList(): string {
  return `# Errors

Made by \`${COMMAND}\` from the tables in \`src/domain/\`; a test fails where this file differs from them. A running
service has the same list under \`/docs/errors\`.

## What the service refuses

${TEXTS.refused}

${table(
  ['code', 'status', 'what happened', 'what to do', 'audit action', 'alert'],
  REFUSALS.map((refusal) => [
    anchored(refusal),
    String(refusal.status),
    refusal.happened,
    refusal.advice,
    refusal.audit ? `\`${refusal.audit}\`` : '',
    refusal.alert ? 'yes' : '',
  ]),
)}

${TEXTS.invalid}

${TEXTS.token}

## What a broker rejects

${TEXTS.rejected}

${table(
  ['code', 'what happened', 'what to do'],
  REJECTED.map((rejection) => [anchored(rejection), rejection.happened, rejection.advice]),
)}
`;
}

const anchored = ({ anchor, code }: Explained): string => `<a id="${anchor}"></a>\`${code}\``;

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|');

export function errorsPage({ version }: Pick<About, 'version'>): string {
  return framed({
    title: `Fillpath API ${version}: errors`,
    name: 'Fillpath',
    version,
    home: '/docs',
    links: html`<a href="/docs">All calls</a>`,
    index: html`<nav class="index" aria-label="All errors">
<details>
<summary class="fold">All errors</summary>
<p class="group"><a class="chapter-link" href="#refused">What the service refuses</a></p>
<ul>
${REFUSALS.map(entry)}</ul>
<p class="group"><a class="chapter-link" href="#rejected">What a broker rejects</a></p>
<ul>
${REJECTED.map(entry)}</ul>
</details>
</nav>`,
    content: html`<section class="intro">
<h1>Errors</h1>
<p class="lead">Each with what happened, and what to do.</p>
</section>
<section class="chapter" id="refused">
<h2>What the service refuses</h2>
${paragraph(TEXTS.refused)}<dl class="errors">
${REFUSALS.map(row)}</dl>
${paragraph(TEXTS.invalid)}${paragraph(TEXTS.token)}</section>
<section class="chapter" id="rejected">
<h2>What a broker rejects</h2>
${paragraph(TEXTS.rejected)}<dl class="errors">
${REJECTED.map(row)}</dl>
</section>
`,
  });
}

const onPage = (text: string): Html => line(text, () => null);
const paragraph = (text: string): Html => html`<p>${onPage(text)}</p>\n`;
const entry = ({ anchor, code }: Explained): Html =>
  html`<li><a class="call-link" href="#${anchor}"><span>${code}</span></a></li>\n`;

const row = ({ anchor, code, status, happened, advice, audit }: Explained): Html =>
  html`<div id="${anchor}"><dt>${status !== null && statusBadge(status)} <a class="self" href="#${anchor}"><code>${code}</code></a></dt><dd><strong>${onPage(happened.replace(/\.?$/, '.'))}</strong> ${onPage(advice)}${audit !== undefined && html` <span class="type">Audited as <code>${audit}</code>.</span>`}</dd></div>
`;
