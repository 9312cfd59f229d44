// The shapes of requests under /auth.

import { Type } from 'typebox';
import { LONGEST_PASSWORD } from '../domain/password.ts';

/** Without NUL, which no database stores, and without halves of characters, which two spellings could share. */
const text = (longest: number, shortest = 1) =>
  Type.String({ minLength: shortest, maxLength: longest, pattern: '^[^\\u0000\\p{Surrogate}]*$' });

const email = text(254);
const password = text(LONGEST_PASSWORD);
const captcha_token = Type.Optional(text(8192, 0));
const code = text(64);
const strict = { additionalProperties: false };

export const RegisterBody = Type.Object(
  { email, password, captcha_token, accept_terms: Type.Optional(Type.Boolean()) },
  strict,
);
export const LoginBody = Type.Object({ email, password, captcha_token }, strict);
export const LoginTotpBody = Type.Object({ login_token: text(2048), code }, strict);
export const ForgotPasswordBody = Type.Object({ email }, strict);
export const ResetPasswordBody = Type.Object({ token: text(256), password }, strict);
export const PasswordBody = Type.Object({ password }, strict);
export const CodeBody = Type.Object({ code }, strict);

/** OAuth2 ignores what it does not know, and takes an empty parameter as one that is not there. */
export const TokenBody = Type.Object({
  grant_type: Type.Optional(text(64, 0)),
  username: Type.Optional(text(254, 0)),
  password: Type.Optional(text(LONGEST_PASSWORD, 0)),
  totp_code: Type.Optional(text(64, 0)),
  refresh_token: Type.Optional(text(2048, 0)),
});
