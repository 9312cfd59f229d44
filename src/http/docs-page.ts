// The page under /docs, made from the OpenAPI document. No script, no style of its own: the strict policy holds.

import type { OpenApi } from './openapi.ts';

export function docsPage(document: OpenApi): string {
  return `<!doctype html><title>${document.info.title}</title>`;
}
