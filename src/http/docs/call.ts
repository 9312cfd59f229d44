// One call on the page under /docs: who may make it, what it takes, what it answers, how it fails.

import type { Access } from '../guards.ts';
import { type Html, html, type Links, line, prose } from './html.ts';
import type { Content, OpenApi, Operation, Parameter, Response } from './openapi.ts';
import { fieldList, fieldRow, refName, typeOf } from './schema.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const WHO: Readonly<Record<Access, string>> = {
  open: 'No login is needed',
  user: 'A session or an API key',
  session: 'A session, not an API key',
  admin: 'A session or an API key of an admin, from an admin address',
  admin_ip: 'Anybody at an admin address',
};

export function callArticle({ method, path, operation }: Call, document: OpenApi, links: Links): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return html`<article class="call" id="${operationId}" aria-labelledby="${operationId}-title">
<header>
<h3 id="${operationId}-title"><a class="self" href="#${operationId}">${summary}</a></h3>
<p class="address">${methodBadge(method)} <code>${path}</code></p>
</header>
<div class="facts">
${description ? prose(description, links) : null}<p class="who"><strong>Who</strong> ${whoMay(operation)}</p>
${section('Parameters', parameterList(parameters, links))}${section('Body', bodyFields(requestBody, links))}${section(
  'Answers',
  answerList(responses, links),
)}${errorList(responses, document, links)}</div>
<div class="samples">
${sample('Request', curl({ method, path, operation }, document))}${answerSample(responses)}</div>
</article>
`;
}

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

const section = (title: string, content: Html | null): Html | null =>
  content && html`<h4>${title}</h4>\n${content}`;

function whoMay({ 'x-access': access, security }: Operation): Html {
  if (security.some((ways) => 'refresh_cookie' in ways)) return html`The refresh cookie alone`;
  const needsProof = security.some((ways) => 'csrf_token' in ways);
  return html`${WHO[access]}${needsProof && html`; a session sends <code>X-CSRF-Token</code>`}`;
}

function parameterList(parameters: readonly Parameter[], links: Links): Html | null {
  if (parameters.length === 0) return null;
  return html`<dl class="fields">
${parameters.map(({ name, in: where, required, description, schema }) =>
  fieldRow(
    {
      name: where === 'path' ? `{${name}}` : where === 'query' ? `?${name}` : name,
      schema,
      isRequired: required,
      description,
    },
    'request',
    links,
  ),
)}</dl>
`;
}

function bodyFields(body: Operation['requestBody'], links: Links): Html | null {
  if (!body) return null;
  const types = Object.keys(body.content);
  const [media] = Object.values(body.content);
  return html`<p class="media">${codes(types)}${!body.required && ', may be left out'}</p>
${media?.schema ? fieldList(media.schema, 'request', links) : null}`;
}

const codes = (texts: readonly string[]): Html =>
  html`${texts.map((text, index) => html`${index > 0 && ' or '}<code>${text}</code>`)}`;

const PROBLEM = 'application/problem+json';
const hasOwnShape = ({ content = {} }: Response) => Object.keys(content).some((type) => type !== PROBLEM);

/** Errors that have another shape than a problem are answers too. */
function answerList(responses: Operation['responses'], links: Links): Html {
  const answers = Object.entries(responses).filter(
    ([status, response]) => Number(status) < 400 || hasOwnShape(response),
  );
  return html`<ul class="answers">
${answers.map(
  ([status, { description, content = {}, headers = {} }]) =>
    html`<li>${statusBadge(status)} ${shapesIn(content)}<span>${line(firstLine(description), links)}</span>${Object.entries(
      headers,
    ).map(
      ([name, header]) =>
        html`<span class="header"><code>${name}</code> ${line(header.description, links)}</span>`,
    )}</li>
`,
)}</ul>
`;
}

/** A bare OK says nothing that the status does not say. */
const firstLine = (description: string): string => (description.split('\n')[0] ?? '').replace(/^OK$/, '');

export const statusBadge = (status: string | number): Html =>
  html`<code class="status s${String(status)[0] ?? ''}">${status}</code>`;

function shapesIn(content: Content): Html[] {
  return Object.entries(content)
    .filter(([type]) => type !== PROBLEM)
    .map(
      ([type, { schema }]) =>
        html`<span class="type">${schema && type.endsWith('json') ? typeOf(schema) : type}</span> `,
    );
}

function errorList(responses: Operation['responses'], document: OpenApi, links: Links): Html | null {
  const failing = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content[PROBLEM]?.examples ?? {}).map(({ $ref }) => ({ status, name: refName($ref) })),
  );
  if (failing.length === 0) return null;
  const statuses = [...new Set(failing.map(({ status }) => status))];
  return html`<details class="errors"><summary class="fold"><h4>Errors</h4> ${statuses.map(statusBadge)}</summary>
<dl>
${failing.map(({ name }) => errorRow(name, document, links))}</dl>
</details>
`;
}

/** What happened, and what to do. */
export function errorRow(name: string, { components }: OpenApi, links: Links): Html {
  const { summary = '', value = {} } = components.examples[name] ?? {};
  const code = String(value.code);
  return html`<div><dt>${statusBadge(String(value.status))} <a href="/docs/errors#${code}"><code>${code}</code></a></dt><dd><strong>${summary}.</strong> ${line(String(value.advice), links)}</dd></div>
`;
}

const sample = (title: string, text: string): Html =>
  html`<figure><figcaption class="caption">${title}</figcaption><pre>${text}</pre></figure>
`;

/** Folded where it would stand in the way; the stylesheet opens it where there is a column for it. */
function answerSample(responses: Operation['responses']): Html | null {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const example = content['application/json']?.example;
    if (Number(status) < 300 && example !== undefined)
      return html`<figure><figcaption class="caption beside">Answer ${status}</figcaption><details class="answer"><summary class="caption fold">Answer ${status}</summary><pre>${JSON.stringify(example, null, 2)}</pre></details></figure>
`;
  }
  return null;
}

const EXAMPLE_ID = '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10';

/** A command that works once its variables are set. */
function curl({ method, path, operation }: Call, { servers }: OpenApi): string {
  const { requestBody, security } = operation;
  const ways = Object.assign({}, security.at(-1)) as Readonly<Record<string, unknown>>;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'token' ? '$TOKEN' : EXAMPLE_ID));
  const quote = address.includes('$') ? '"' : '';
  const words = [`curl ${quote}${servers[0]?.url ?? ''}${address}${quote}`];
  if (method !== 'get' && !(method === 'post' && requestBody))
    words[0] = words[0]?.replace('curl', `curl -X ${method.toUpperCase()}`) ?? '';
  if ('api_key' in ways) words.push('-H "Authorization: Bearer $API_KEY"');
  if ('access_token' in ways) words.push('-H "Authorization: Bearer $ACCESS_TOKEN"');
  if ('refresh_cookie' in ways) words.push('-b "refresh_token=$REFRESH_TOKEN"');
  if ('csrf_token' in ways) words.push('-H "X-CSRF-Token: $CSRF_TOKEN"');
  return [...words, ...bodyWords(requestBody)].join(' \\\n  ');
}

function bodyWords(body: Operation['requestBody']): string[] {
  const [[type, media] = ['', {}]] = Object.entries(body?.content ?? {});
  if (media.example === undefined) return [];
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  if (type === 'application/x-www-form-urlencoded')
    return Object.entries(media.example as object).map(
      ([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`,
    );
  return [`-H 'Content-Type: ${type}'`, `-d ${quoted(JSON.stringify(media.example, null, 2))}`];
}
