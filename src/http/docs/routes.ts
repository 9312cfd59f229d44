// GET /openapi.json, GET /docs and GET /docs/errors: the description of the service, for programs and for people.

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { map } from '../schemas/parts.ts';
import { errorsPage } from './errors-list.ts';
import { type About, openApi } from './openapi.ts';
import { docsPage } from './page.ts';
import type { RouteDoc } from './route-doc.ts';

export function docsRoutes(server: FastifyInstance, about: About): void {
  const open = (doc: Omit<RouteDoc, 'tag'>) =>
    ({ config: { access: 'open', doc: { tag: 'Service', ...doc } } }) as const;
  const page = (doc: Omit<RouteDoc, 'tag'>) =>
    ({ config: { ...open(doc).config, ignoresQuery: true } }) as const;
  // Once, when they are first asked for: by then every route is in the table.
  const document = once(() => openApi(server.routeTable, about));
  const json = once(() => JSON.stringify(document()));
  const html = once(() => docsPage(document()));
  const errors = once(() => errorsPage(about));
  const style = readFileSync(new URL('./style.css', import.meta.url));

  server.get(
    '/openapi.json',
    open({
      id: 'readOpenApi',
      summary: 'Read this description as an OpenAPI document',
      answers: { 200: map(Type.Unknown(), { description: 'OpenAPI 3.1', examples: [{ openapi: '3.1.1' }] }) },
    }),
    async (_request, reply) => {
      return reply.type('application/json').send(json());
    },
  );

  server.get(
    '/docs',
    page({
      id: 'readDocs',
      summary: 'Read this description as a page',
      answerType: 'text/html',
      answers: { 200: Type.String({ description: 'HTML', examples: ['<!doctype html>…'] }) },
    }),
    async (_request, reply) => {
      return reply.type('text/html; charset=utf-8').send(html());
    },
  );

  server.get(
    '/docs/errors',
    page({
      id: 'readErrors',
      summary: 'Read what each error means, and what to do',
      description: 'The `type` of every problem leads here, to its code.',
      answerType: 'text/html',
      answers: { 200: Type.String({ description: 'HTML', examples: ['<!doctype html>…'] }) },
    }),
    async (_request, reply) => reply.type('text/html; charset=utf-8').send(errors()),
  );

  server.get(
    '/docs/style.css',
    page({
      id: 'readDocsStyle',
      summary: 'Read the stylesheet of the page',
      answerType: 'text/css',
      answers: { 200: Type.String({ description: 'CSS', examples: ['body { … }'] }) },
    }),
    async (_request, reply) => reply.type('text/css; charset=utf-8').send(style),
  );
}

function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
