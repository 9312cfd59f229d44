// What a request says, read strictly: JSON without doubts, and every field by its schema.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/schema';
import { isStorable, plainJson, readJson } from '../domain/signals/json.ts';
import { RequestInvalid } from './problem.ts';
import { readText, type TextSchema } from './schemas/requests.ts';
import { explain } from './validation.ts';

/** Routes share schemas, and servers in one process share their routes': each is compiled once. */
const validators = new WeakMap<object, ReturnType<typeof Compile>>();
function validatorOf(schema: object): ReturnType<typeof Compile> {
  const known = validators.get(schema);
  if (known) return known;
  const made = Compile(schema as never);
  validators.set(schema, made);
  return made;
}

export function readStrictly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, body: Buffer) => {
      // Clients name a content type even where they send nothing.
      if (body.length === 0) return undefined;
      const reading = readJson(body);
      if ('problem' in reading) throw new RequestInvalid(reading.problem);
      if (!isStorable(reading.value))
        throw new RequestInvalid('A string in the body contains a NUL or half a character.');
      const json = plainJson(reading.value);
      if (!json) throw new RequestInvalid('A number in the body has more than 15 significant digits.');
      return json.plain;
    },
  );

  server.setValidatorCompiler(({ schema, httpPart }) => {
    const validator = validatorOf(schema as object);
    return (data) => {
      // A query is text; a body has types of its own, and they must be right.
      // No body at all is one without fields.
      const value = httpPart === 'body' ? (data ?? {}) : readText(schema as TextSchema, data as object);
      if (validator.Check(value)) return { value };
      const [, [first]] = validator.Errors(value);
      return { error: new RequestInvalid(explain(schema as object, first, httpPart ?? 'request')) };
    };
  });
}
