// What the shapes of answers are made of, and the two shapes of errors.
//
// Answers are not serialised by their schemas, which would cost time on every order; instead every test that runs a
// whole Fillpath holds its answers against them (test/http/documented.ts). A title is the name of the shape in /openapi.json.
// Fields may be added to an answer in a later version, so no shape is closed.

import { type TSchema, type TSchemaOptions, Type } from 'typebox';
import { oneOf } from './requests.ts';

export const saying = (description: string): TSchemaOptions => ({ description });

export const id = (description: string) => Type.String({ format: 'uuid', description });
export const text = (description: string, examples: string[] = []) =>
  Type.String({ description, ...(examples.length > 0 ? { examples } : {}) });
export const time = (description: string) => Type.String({ format: 'date-time', description });
export const number = (description: string, example = 1) => Type.Number({ description, examples: [example] });
export const count = (description: string, example = 0) =>
  Type.Integer({ minimum: 0, description, examples: [example] });
export const flag = (description: string, example = false) =>
  Type.Boolean({ description, examples: [example] });
/** What is said of the schema is said of the field, whichever of the two it holds. */
export const orNull = (schema: TSchema, more: TSchemaOptions = {}) => {
  const { description } = schema as TSchemaOptions;
  return Type.Union([schema, Type.Null()], { ...(description ? { description } : {}), ...more });
};
export const map = (values: TSchema, more: TSchemaOptions = {}) =>
  Type.Object({}, { additionalProperties: values, ...more });

/** One page of a list. */
export const pageOf = (item: TSchema) =>
  Type.Object(
    {
      items: Type.Array(item),
      next_cursor: orNull(text('for ?cursor= of the next page; null: this is the last one'), {
        examples: [null],
      }),
    },
    { title: `${(item as TSchemaOptions).title}Page` },
  );

const open = Type.Object({}, { additionalProperties: true });

export const Problem = Type.Object(
  {
    type: Type.String({
      format: 'uri',
      description: 'the address of the page that explains the error, at its code',
      examples: ['https://fillpath.example.com/docs/errors#rate_limited'],
    }),
    title: text('what happened', ['Too many requests']),
    status: Type.Integer({ description: 'the HTTP status once more', examples: [429] }),
    detail: text('for a person: what is wrong'),
    code: text('stable, for programs', ['rate_limited']),
    advice: text('for a person: what to do', ['Wait a minute.']),
    request_id: id('tell it to the operator when you ask for help'),
    group_id: Type.Optional(id('of the group whose signal was refused')),
    members: Type.Optional(
      Type.Array(open, saying('of a group’s signal: what became of it at each member, as in GroupResult')),
    ),
    orders: Type.Optional(
      Type.Array(open, saying('of a group’s signal: the orders that it became, as in SignalSummary')),
    ),
  },
  { title: 'Problem', description: 'What went wrong, as RFC 9457 says.' },
);

export const OAuthError = Type.Object(
  {
    error: oneOf([
      'invalid_request',
      'invalid_grant',
      'unsupported_grant_type',
      'temporarily_unavailable',
      'server_error',
    ]),
    error_description: text(
      'for a person; `totp_required` where only the code of the second factor is missing',
    ),
  },
  { title: 'OAuthError', description: 'What went wrong, as OAuth2 says (RFC 6749, 5.2).' },
);
