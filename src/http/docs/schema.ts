// Shapes as people read them: the fields with their types, and what they may hold.

import type { Schema } from '../schemas/named.ts';
import { type Html, html, type Links, line } from './html.ts';

/** Of a request one wants to know what must be there; of an answer, what may be missing. */
type Side = 'request' | 'answer';

/** The fields of an object, with the fields of what is inside it. */
export function fieldList(schema: Schema, side: Side, links: Links): Html | null {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties);
  if (fields.length === 0) return null;
  return html`<dl class="fields">
${fields.map(([name, field]) => fieldRow({ name, schema: field, isRequired: required.includes(name) }, side, links))}</dl>
`;
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
}

export function fieldRow({ name, schema, isRequired, description }: Field, side: Side, links: Links): Html {
  const said = description ?? schema.description;
  const inner = innerObject(schema);
  const limits = limitsOf(schema);
  return html`<div><dt><code>${name}</code> <span class="type">${typeOf(schema)}</span>${
    side === 'request' && isRequired && html` <span class="required">required</span>`
  }${
    side === 'answer' && !isRequired && html` <span class="optional">may be missing</span>`
  }</dt><dd>${said ? html`<p>${line(sentence(said), links)}</p>` : null}${
    limits.length > 0 && html`<p class="limits">${limits.map((limit) => html`<span>${limit}</span>`)}</p>`
  }${inner && fieldList(inner, side, links)}</dd></div>
`;
}

/** An object without a name of its own is shown where it stands. */
function innerObject(schema: Schema): Schema | null {
  if (schema.properties) return schema;
  const inner = schema.items ?? schema.anyOf?.find(({ properties }) => properties);
  return inner?.properties ? inner : null;
}

export const shapeAnchor = (name: string): string => `shape-${name}`;
export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

export function typeOf(schema: Schema): Html {
  const { $ref, anyOf, items, type, format } = schema;
  if ($ref) return html`<a href="#${shapeAnchor(refName($ref))}">${refName($ref)}</a>`;
  if (anyOf) return html`${anyOf.map((each, index) => html`${index > 0 && ' or '}${typeOf(each)}`)}`;
  if (type === 'array') return html`array of ${items ? typeOf(items) : 'anything'}`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return html`string`;
  return html`${format ?? type ?? 'anything'}`;
}

/** Rules that a description need not repeat. */
function limitsOf(schema: Schema): Html[] {
  const limits: Html[] = [];
  const { minimum, maximum, exclusiveMinimum, minLength = 0, maxLength, maxItems } = schema;
  const values = valuesOf(schema);
  if (values.length > 0)
    limits.push(
      html`one of ${values.map((value, index) => html`${index > 0 && ', '}<code>${value}</code>`)}`,
    );
  if (minimum !== undefined && maximum !== undefined) limits.push(html`${minimum} to ${maximum}`);
  else if (maximum !== undefined) limits.push(html`at most ${maximum}`);
  if (exclusiveMinimum !== undefined) limits.push(html`above ${exclusiveMinimum}`);
  if (maxLength !== undefined)
    limits.push(
      minLength > 0 ? html`${minLength} to ${maxLength} characters` : html`at most ${maxLength} characters`,
    );
  if (maxItems !== undefined) limits.push(html`at most ${maxItems} items`);
  if (schema.default !== undefined) limits.push(html`default <code>${JSON.stringify(schema.default)}</code>`);
  return limits;
}

const valuesOf = (schema: Schema): string[] =>
  [schema, ...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])].flatMap((each) =>
    (each.enum ?? []).map(String),
  );

/** Descriptions are written to stand after a name; on the page they are sentences, and values in them are code. */
function sentence(text: string): string {
  const marked = text.replace(/\b(?:null|true|false)(?=:)/g, '`$&`');
  return marked.charAt(0).toUpperCase() + marked.slice(1) + (/[.…]$/.test(text) ? '' : '.');
}
