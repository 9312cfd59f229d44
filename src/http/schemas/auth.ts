// The shapes of requests under /auth.

import { type TSchemaOptions, Type } from 'typebox';
import { LONGEST_PASSWORD } from '../../domain/identity/password.ts';

/** Without NUL, which no database stores, and without halves of characters, which two spellings could share. */
const text = (longest: number, { description, ...more }: TSchemaOptions & { description: string }) =>
  Type.String({
    minLength: 1,
    maxLength: longest,
    pattern: '^[^\\u0000\\p{Surrogate}]*$',
    description,
    ...more,
  });

const email = text(254, { description: 'an email address', examples: ['ada@example.com'] });
const password = text(LONGEST_PASSWORD, { description: 'your password' });
const newPassword = text(LONGEST_PASSWORD, { description: '8 to 256 characters, not a common password' });
const captcha_token = Type.Optional(
  text(8192, { minLength: 0, description: 'what the bot challenge gave, where one is asked for' }),
);
const code = text(64, {
  description: 'the code that the authenticator app shows now, or a recovery code',
  examples: ['492039'],
});
const strict = { additionalProperties: false };

export const RegisterBody = Type.Object(
  {
    email,
    password: newPassword,
    captcha_token,
    accept_terms: Type.Optional(
      Type.Boolean({ default: false, description: 'true: accepts the current terms', examples: [true] }),
    ),
  },
  strict,
);
export const LoginBody = Type.Object({ email, password, captcha_token }, strict);
export const LoginTotpBody = Type.Object(
  { login_token: text(2048, { description: 'the login_token of POST /auth/login' }), code },
  strict,
);
export const ForgotPasswordBody = Type.Object({ email }, strict);
export const ResetPasswordBody = Type.Object(
  { token: text(256, { description: 'the token from the mail' }), password: newPassword },
  strict,
);
export const VerifyEmailBody = Type.Object(
  { token: text(256, { description: 'the token from the mail' }) },
  strict,
);
export const ChangePasswordBody = Type.Object(
  {
    current_password: password,
    password: newPassword,
    code: Type.Optional(
      text(64, {
        description: 'of the second factor, where it is on: what the app shows now, or a recovery code',
        examples: ['492039'],
      }),
    ),
  },
  strict,
);
export const PasswordBody = Type.Object({ password }, strict);
export const CodeBody = Type.Object({ code }, strict);

const parameter = (longest: number, description: string, example?: string) =>
  Type.Optional(
    text(longest, { minLength: 0, description, ...(example === undefined ? {} : { examples: [example] }) }),
  );

/** OAuth2 ignores what it does not know, and takes an empty parameter as one that is not there. */
export const TokenBody = Type.Object({
  grant_type: parameter(64, '`password` or `refresh_token`', 'password'),
  username: parameter(254, 'your email address, for the grant `password`', 'ada@example.com'),
  password: parameter(
    LONGEST_PASSWORD,
    'your password, for the grant `password`',
    'a horse, a staple, a battery',
  ),
  totp_code: parameter(64, 'the code of the second factor, for the grant `password`, where you have one'),
  refresh_token: parameter(2048, 'a refresh token, for the grant `refresh_token`'),
});
