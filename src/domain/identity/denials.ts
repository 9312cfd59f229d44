// Those refusals of the one table (../denials.ts) that are about who somebody is.

export const IDENTITY_DENIALS = {
  invalid_credentials: {
    status: 401,
    title: 'The email address or the password is wrong',
    // The same words whether or not there is such a user.
    advice:
      'Check the email address and the password and try again, or ask for a new password under /auth/forgot-password.',
  },
  /** After a right password: whoever guesses codes knows that one already. */
  login_code_wrong: {
    status: 401,
    title: 'The code of the second factor is wrong',
    reason: 'The password was right; the code is wrong, or was used before.',
    advice:
      'Type the code that the authenticator app shows now, or a recovery code. If none is accepted, check the clock of the device with the app.',
  },
  login_locked: {
    status: 429,
    title: 'Too many failed attempts for this account',
    advice: 'Wait for the time given in Retry-After, or set a new password by mail, which ends the wait.',
  },
  passwords_busy: {
    status: 503,
    title: 'Too many passwords are being checked',
    reason: 'It does not count as a failed attempt.',
    advice: 'Try again after the time given in Retry-After.',
  },
  login_token_invalid: {
    status: 401,
    title: 'This login has expired',
    advice: 'Begin again with email and password.',
  },
  /** Of somebody who is logged in: not 401, which would tell the client that its session has ended. */
  password_wrong: { status: 403, title: 'The password is wrong', advice: 'Give your current password.' },
  password_weak: {
    status: 400,
    title: 'This password is too weak',
    advice: 'Choose a password of 8 to 256 characters that is not a common one.',
  },
  reset_token_invalid: {
    status: 400,
    title: 'This link is used up or has expired',
    reason: 'A link for a new password works once, for 30 minutes.',
    advice: 'Ask for another under /auth/forgot-password.',
  },
  verify_token_invalid: {
    status: 400,
    title: 'This link is used up or has expired',
    reason: 'A link that confirms an address works once, for 24 hours.',
    advice: 'Log in and ask for another, or register again.',
  },
  email_not_verified: {
    status: 403,
    title: 'Your email address is not confirmed',
    reason: 'Until it is, there are no second factor, API keys and notifications.',
    advice: 'Follow the link that was mailed to it; POST /auth/verify-email/resend sends another.',
  },
  email_already_verified: {
    status: 409,
    title: 'Your email address is confirmed',
    advice: 'Nothing needs doing.',
  },
  totp_code_wrong: {
    status: 400,
    title: 'The code of the second factor is wrong',
    advice:
      'Type the code that the authenticator app shows now; each code works once. If none is accepted, check the clock of the device with the app.',
  },
  totp_already_enabled: {
    status: 409,
    title: 'The second factor is already on',
    advice: 'Turn it off first to enrol another authenticator.',
  },
  totp_not_enrolled: {
    status: 409,
    title: 'There is no second factor',
    advice: 'Enrol an authenticator first with POST /auth/totp/enrol.',
  },
  captcha_failed: {
    status: 403,
    title: 'The bot challenge was not passed',
    advice: 'Load the page again and solve the challenge once more; each answer works once.',
  },
  captcha_unavailable: {
    status: 503,
    title: 'The bot challenge cannot be verified',
    reason: 'The provider of the challenge does not answer.',
    advice: 'Try again in a moment.',
  },
} as const;
