// HTML that is escaped by construction, and the little Markdown that our descriptions use.

/** What may stand in a page as it is. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[] | null | false;

/** Whatever is put in is escaped, unless it is Html already. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(texts.reduce((made, text, index) => made + shown(parts[index - 1] ?? null) + text));

function shown(part: Part): string {
  if (part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Where a call such as "POST /auth/login" is described; null: nowhere on this page. */
export type Links = (call: string) => string | null;

const CODE_OR_CALL = /`([^`]+)`|\b((?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}.-]*[\w}])/g;

/** One line of text: `code`, and links to the calls that it names. */
export function line(text: string, links: Links): Html {
  const parts: Html[] = [];
  let done = 0;
  for (const match of text.matchAll(CODE_OR_CALL)) {
    const [all, code, call = ''] = match;
    parts.push(html`${text.slice(done, match.index)}`);
    const link = links(call);
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else parts.push(link === null ? html`${call}` : html`<a href="${link}">${call}</a>`);
    done = match.index + all.length;
  }
  return html`${parts}${text.slice(done)}`;
}

/** Paragraphs, lists with "- " and headings with "## ", parted by blank lines. */
export const prose = (markdown: string, links: Links): Html =>
  html`${markdown.split('\n\n').map((block) => {
    if (block.startsWith('## ')) return html`<h2 id="${anchor(block.slice(3))}">${block.slice(3)}</h2>\n`;
    if (!block.startsWith('- ')) return html`<p>${line(block, links)}</p>\n`;
    const items = block.split('\n').map((item) => html`<li>${line(item.slice(2), links)}</li>`);
    return html`<ul>${items}</ul>\n`;
  })}`;

export const anchor = (title: string): string => title.toLowerCase().replace(/\W+/g, '-');
