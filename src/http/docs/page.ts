// The page under /docs, made from the OpenAPI document.

import { templateWith } from '../../domain/signals/template.ts';
import { type Call, callArticle, errorRow, methodBadge } from './call.ts';
import { framed } from './frame.ts';
import { anchor, type Html, html, type Links, line, prose } from './html.ts';
import type { OpenApi } from './openapi.ts';
import { fieldList, shapeAnchor, typeOf } from './schema.ts';

interface Chapter {
  readonly name: string;
  readonly description: string;
  readonly calls: readonly Call[];
}

export function docsPage(document: OpenApi): string {
  const { info } = document;
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Call => ({ method, path, operation })),
  );
  const places = new Map(
    calls.map(({ method, path, operation }) => [
      `${method.toUpperCase()} ${path}`,
      `#${operation.operationId}`,
    ]),
  );
  const links: Links = (call) => places.get(call) ?? null;
  const chapters = document.tags.map(
    ({ name, description }): Chapter => ({
      name,
      description,
      calls: calls.filter(({ operation }) => operation.tags.includes(name)),
    }),
  );
  return framed({
    title: `${info.title} API ${info.version}`,
    name: info.title,
    version: info.version,
    home: '#content',
    links: html`<a class="jump" href="#index">All calls</a>
<a href="/openapi.json">openapi.json</a>`,
    index: html`<nav class="index" id="index" aria-label="All calls">
<details>
<summary class="fold">All calls</summary>
${chapterLink('Conventions')}${chapterLink('The message of an alert')}${chapters.map(chapterIndex)}${chapterLink('Shapes')}${chapterLink('All errors')}
</details>
</nav>`,
    content: html`<section class="intro">
<h1>${info.title} API</h1>
<p class="lead">${info.summary}</p>
<p class="where">Base address <code>${document.servers[0]?.url ?? ''}</code></p>
${prose(info.description, links)}</section>
${messageSection()}${chapters.map((chapter) => chapterSection(chapter, document, links))}${shapesSection(document, links)}${errorsSection(document, links)}`,
  });
}

const chapterLink = (name: string): Html =>
  html`<p class="group"><a class="chapter-link" href="#${anchor(name)}">${name}</a></p>
`;

const chapterIndex = ({ name, calls }: Chapter): Html => html`${chapterLink(name)}<ul>
${calls.map(
  ({ method, operation }) =>
    html`<li><a class="call-link" href="#${operation.operationId}">${methodBadge(method)} <span>${operation.summary}</span></a></li>
`,
)}</ul>
`;

const chapterSection = (
  { name, description, calls }: Chapter,
  document: OpenApi,
  links: Links,
): Html => html`<section class="chapter" id="${anchor(name)}">
<h2>${name}</h2>
<p class="lead">${line(description, links)}</p>
${calls.map((call) => callArticle(call, document, links))}</section>
`;

const messageSection = (): Html => html`<section class="chapter" id="${anchor('The message of an alert')}">
<h2>The message of an alert</h2>
<p class="lead">What a strategy's alert on the charting platform sends. Where the strategy stands afterwards decides what is traded: a closed long is flat and not short, a reversal is of the right size, and an alert that got lost is noticed.</p>
<pre>${templateWith('<your webhook secret>')}</pre>
</section>
`;

const shapesSection = (
  { components }: OpenApi,
  links: Links,
): Html => html`<section class="chapter" id="shapes">
<h2>Shapes</h2>
<p class="lead">What the answers are made of.</p>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<article class="shape" id="${shapeAnchor(name)}">
<h3><a class="self" href="#${shapeAnchor(name)}">${name}</a></h3>
${schema.description ? html`<p>${line(schema.description, links)}</p>` : null}${
  schema.properties ? fieldList(schema, 'answer', links) : html`<p>${typeOf(schema)}</p>`
}</article>
`,
)}</section>
`;

const errorsSection = (
  document: OpenApi,
  links: Links,
): Html => html`<section class="chapter" id="all-errors">
<h2>All errors</h2>
<p class="lead">Each with what happened, and what to do. They have <a href="/docs/errors">a page of their own</a>, to which the type of a problem leads.</p>
<dl class="errors">
${Object.keys(document.components.examples).map((name) => errorRow(name, document, links))}</dl>
</section>
`;
