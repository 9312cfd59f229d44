// The parameters of a query: a call takes those that it declares, each once, and a call that declares none takes none.
// Any other is refused and named. `?simulate=true`, or `?simulation=true` where that is a field of the body, must never
// trade in earnest.

import type { FastifyInstance } from 'fastify';
import { RequestInvalid } from './problem.ts';
import type { Schema } from './schemas/named.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A page, its files, a probe: nothing is decided by what somebody hangs onto their address. */
    ignoresQuery?: true;
  }
}

export function refuseUnknownParameters(server: FastifyInstance): void {
  server.addHook('preValidation', ({ query, routeOptions: { url, config, schema } }, _reply, done) => {
    // What a route reads by its own rules, it refuses by them.
    if (url === undefined || config.ignoresQuery || config.doc?.reads?.query) return done();
    const { querystring, body } = (schema ?? {}) as Record<string, Schema | undefined>;
    const problem = queryProblem(query as object, namesIn(querystring), namesIn(body));
    done(problem === null ? undefined : new RequestInvalid(problem));
  });
}

const namesIn = (schema: Schema | undefined): readonly string[] => Object.keys(schema?.properties ?? {});

/** What is wrong with the parameters of a query, whatever their values are; null: nothing. */
export function queryProblem(
  query: object,
  known: readonly string[],
  inBody: readonly string[] = [],
): string | null {
  for (const [name, value] of Object.entries(query)) {
    if (!known.includes(name))
      return `${JSON.stringify(name.slice(0, 64))} is not a query parameter of this call. ${advice(name, known, inBody)}`;
    if (Array.isArray(value)) return `"${name}" is given twice.`;
  }
  return null;
}

function advice(name: string, known: readonly string[], inBody: readonly string[]): string {
  const isMeant = (other: string) => other.toLowerCase() === name.toLowerCase();
  const field = inBody.find(isMeant);
  if (field) return `It is a field of the body: {"${field}": …}.`;
  return known.length > 0 ? `It takes ${known.join(', ')}.` : 'It takes none.';
}
