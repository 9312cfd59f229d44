// What the pages of /docs have around them. No script, and no style but the one stylesheet of ours: the strict policy of
// the service holds here as everywhere.

import { type Html, html } from './html.ts';

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%230b6e5f'/%3E%3Cpath d='M7 21l6-7 5 4 7-9' fill='none' stroke='%23fff' stroke-width='3' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E";

export interface Framed {
  readonly title: string;
  readonly name: string;
  readonly version: string;
  /** Where the name in the head leads. */
  readonly home: string;
  readonly links: Html;
  readonly index: Html;
  readonly content: Html;
}

export const framed = ({ title, name, version, home, links, index, content }: Framed): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="masthead">
<a class="brand" href="${home}">${name} <span>API</span></a>
<span class="version">${version}</span>
${links}
</header>
${index}
<main id="content">
${content}</main>
</body>
</html>
`.text;
