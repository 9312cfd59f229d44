// Every refusal of ours, in one closed table: its code, its status, its audit action, whether it is a classified
// attack that alerts the user, and what it tells the person. (A refusal of the broker's is a rejection: order.ts.)

interface DenialRule {
  readonly status: number;
  readonly title: string;
  /** The default text; the place that denies may say it more precisely. */
  readonly detail: string;
  /** What to do, for the documentation, where the spec fixes the text and it does not say so. */
  readonly advice?: string;
  /** The classified events of the spec have an audit action of their own. */
  readonly audit?: string;
  readonly alert?: true;
}

export const DENIALS = {
  webhook_payload_invalid: {
    status: 400,
    title: 'The webhook body is invalid',
    detail: 'Send a JSON object with action, symbol, quantity, timestamp and secret.',
    audit: 'webhook_payload_invalid',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'Send a smaller body: at most 16 KiB to a webhook, 64 KiB elsewhere.',
    audit: 'webhook_payload_invalid',
  },
  request_invalid: {
    status: 400,
    title: 'The request is invalid',
    detail: 'Compare the request with the description under /openapi.json.',
  },
  unauthenticated: {
    status: 401,
    title: 'Authentication is needed',
    detail: 'Log in, or send Authorization: Bearer with a valid token or API key.',
  },
  session_required: {
    status: 403,
    title: 'Only a session may do this',
    detail:
      'Log in: an API key cannot manage sessions, keys, passwords, allowed IPs, webhook secrets and tokens, and notifications.',
  },
  admin_required: { status: 403, title: 'Only an admin may do this', detail: 'Log in as an admin.' },
  webhook_not_found: {
    status: 404,
    title: 'No such webhook',
    // 404 and no word more: the answer must not reveal whether the account exists.
    detail: 'Check the webhook URL on your account page.',
  },
  not_found: { status: 404, title: 'Not found', detail: 'There is nothing here under this address.' },
  user_deactivated: {
    status: 403,
    title: 'This user is deactivated',
    detail: 'Ask the operator of this service to activate the user again.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'Slow down and try again after the time given in Retry-After.',
  },
  too_many_at_once: {
    status: 429,
    title: 'Too many requests at once',
    detail: 'Wait for the answers to some of them, then ask again.',
  },
  webhook_ip_blocked: {
    status: 403,
    title: 'This IP address is not allowed',
    detail: "Send from an address on the user's list of allowed IPs, or add this one to it.",
    audit: 'webhook_ip_blocked',
    alert: true,
  },
  /**
   * None of the classified attacks: the spec's list is closed, and a certificate that the platform renewed looks the same as a
   * stranger without one. It is audited, and stands among the account's signals.
   */
  platform_certificate_missing: {
    status: 403,
    title: "The platform's certificate is missing",
    detail:
      "This account takes alerts only with the charting platform's client certificate, and this request came without it. Send it from the platform, or turn require_platform_certificate off.",
  },
  /** The same check on the trading routes (the spec gives both one audit action); also of a foreign IP at an admin path. */
  ip_not_allowed: {
    status: 403,
    title: 'This IP address is not allowed',
    detail: 'Send from an address on your list of allowed IPs, or add this one to it.',
    audit: 'webhook_ip_blocked',
    alert: true,
  },
  webhook_timestamp_expired: {
    status: 401,
    title: 'Request expired',
    detail: 'Request expired',
    advice: 'Send each signal once it is made, with the time of its making; check the sender’s clock.',
    audit: 'webhook_timestamp_expired',
    alert: true,
  },
  webhook_credential_attack: {
    status: 401,
    title: 'The webhook secret is wrong',
    detail: "Put the account's current webhook secret into the alert.",
    audit: 'webhook_credential_attack',
    alert: true,
  },
  webhook_replay_attack: {
    status: 409,
    title: 'This signal was received before',
    detail: 'The same signal is executed once. Send a new signal with its own timestamp.',
    audit: 'webhook_replay_attack',
    alert: true,
  },
  origin_not_allowed: {
    status: 403,
    title: 'This origin may not call the service',
    detail: 'Call from a page of an allowed origin, or with Authorization: Bearer and without cookies.',
  },
  edge_rate_limited: {
    status: 429,
    title: 'Too many requests from this address',
    detail: 'This address is blocked until the time given in Retry-After has passed.',
  },
  csrf_validation_failed: {
    status: 403,
    title: 'The CSRF token is missing or wrong',
    detail: 'Send the session’s CSRF token in the header X-CSRF-Token; GET /auth/session has it.',
    audit: 'csrf_validation_failed',
  },
  admin_exists: {
    status: 409,
    title: 'There is an admin already',
    detail: 'The first admin is made once. Log in as that admin.',
  },
  email_taken: {
    status: 409,
    title: 'This email address has a user already',
    detail: 'Log in with it, or ask for a new password under /auth/forgot-password.',
  },
  own_deactivation: {
    status: 409,
    title: 'Nobody deactivates themselves',
    detail: 'Ask another admin: a service without an active admin could not be administered.',
  },
  not_a_dead_letter: {
    status: 409,
    title: 'This order is not in the dead-letter queue',
    detail:
      'Its fill verification is under way or has ended; GET /deployment/dead-letters lists those to retry.',
  },
  nothing_to_look_for: {
    status: 409,
    title: 'There is nothing to look for',
    detail: 'The order’s fill is known, or it has not been sent yet. GET /trading/orders/{id} shows it.',
  },
  terms_version_exists: {
    status: 409,
    title: 'This version of the terms is published already',
    detail: 'What people have accepted is not changed. Publish a new version.',
  },
  invalid_credentials: {
    status: 401,
    title: 'The email address or the password is wrong',
    // The same words whether or not there is such a user.
    detail:
      'Check the email address and the password and try again, or ask for a new password under /auth/forgot-password.',
  },
  login_locked: {
    status: 429,
    title: 'Too many failed tries for this account',
    detail: 'Wait for the time given in Retry-After, or set a new password by mail, which ends the wait.',
  },
  passwords_busy: {
    status: 503,
    title: 'Too many passwords are being checked',
    detail: 'Try again after the time given in Retry-After. It does not count as a failed try.',
  },
  login_token_invalid: {
    status: 401,
    title: 'This login has expired',
    detail: 'Begin again with email and password.',
  },
  /** Of somebody who is logged in: not 401, which would tell the client that its session has ended. */
  password_wrong: { status: 403, title: 'The password is wrong', detail: 'Give your current password.' },
  password_weak: {
    status: 400,
    title: 'This password is too weak',
    detail: 'Choose a password of 8 to 256 characters that is not among the common ones.',
  },
  reset_token_invalid: {
    status: 400,
    title: 'This link is used up or has expired',
    detail:
      'A link for a new password works once, for 30 minutes. Ask for another under /auth/forgot-password.',
  },
  totp_code_wrong: {
    status: 400,
    title: 'The code is wrong',
    detail: 'Type the code that the authenticator app shows now; each code works once.',
  },
  totp_already_enabled: {
    status: 409,
    title: 'The second factor is on already',
    detail: 'Disable it first to enrol another authenticator.',
  },
  totp_not_enrolled: {
    status: 409,
    title: 'There is no second factor',
    detail: 'Enrol an authenticator first with POST /auth/totp/enrol.',
  },
  captcha_failed: {
    status: 403,
    title: 'The bot challenge was not passed',
    detail: 'Load the page again and solve the challenge once more; each answer works once.',
  },
  captcha_unavailable: {
    status: 503,
    title: 'The bot challenge cannot be verified',
    detail: 'The provider of the challenge does not answer. Try again in a moment.',
  },
  account_halted: {
    status: 403,
    title: 'The account is halted',
    detail: 'New entries are refused while the kill switch is on. Resume the account to trade again.',
  },
  plan_simulation_only: {
    status: 403,
    title: 'This plan is limited to simulation',
    detail: 'Send ?simulation=true, or choose a plan with real trading.',
  },
  terms_not_accepted: {
    status: 403,
    title: 'The current terms of service are not accepted',
    detail: 'Read the terms under /public/terms and accept them with POST /settings/terms.',
  },
  credentials_not_verified: {
    status: 400,
    title: 'The broker credentials are not verified',
    detail: 'Verify the account’s broker credentials before placing real orders.',
  },
  daily_limit_reached: {
    status: 429,
    title: 'The daily order limit is reached',
    detail: 'The plan’s orders for this UTC day are used up. Wait for the next day or choose a larger plan.',
  },
  orders_under_way: {
    status: 409,
    title: 'The account has orders under way',
    detail: 'Wait until they are filled or have ended, then delete the account again.',
  },
  positions_open: {
    status: 409,
    title: 'The broker holds positions of the account',
    detail: 'Close them first, or delete the account with ?keep_positions=true.',
  },
  account_changed: {
    status: 409,
    title: 'The account was changed at the same moment',
    detail: 'Read the account again, and repeat the request if it still applies.',
  },
  credentials_invalid: {
    status: 400,
    title: 'These are no sealed credentials',
    detail: 'Seal the credentials to the key under /auth/public-key: a compact JWE, ECDH-ES with A256GCM.',
  },
  credentials_missing: {
    status: 400,
    title: 'The account has no broker credentials',
    detail: 'Send them first, with PUT to the account’s credentials.',
  },
  credentials_unreadable: {
    status: 400,
    title: 'The broker credentials cannot be opened',
    // The same words for a wrong key, a wrong user and a wrong account.
    detail:
      'Seal {user_id, trading_account_id, credentials} of this account to the key under /auth/public-key, and send them again.',
  },
  credentials_rejected: {
    status: 400,
    title: 'The broker refuses the credentials',
    detail: 'Check them at your broker, and send the right ones.',
  },
  account_unfit: {
    status: 409,
    title: 'The account cannot be traded as it is',
    detail: 'Change it at your broker as it says, and verify it again.',
  },
  terms_version_outdated: {
    status: 409,
    title: 'This is not the current version of the terms',
    detail: 'Read the current terms under /public/terms and accept their version.',
  },
  allowed_ip_exists: {
    status: 409,
    title: 'This address is on the list already',
    detail: 'Nothing is to be done; GET /settings/allowed-ips shows the list.',
  },
  notification_address_invalid: {
    status: 400,
    title: 'This address cannot be notified',
    detail: 'Give what the kind of destination needs: a url, or for Telegram bot_token and chat_id.',
  },
  too_many: {
    status: 409,
    title: 'There are as many as there can be',
    detail: 'Remove one that you no longer need, then try again.',
  },
  idempotency_conflict: {
    status: 409,
    title: 'This Idempotency-Key belongs to another request',
    detail: 'Use a new key for a new order.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request with this Idempotency-Key is under way',
    detail: 'Wait for its end, then ask again with the same key.',
  },
  broker_unavailable: {
    status: 503,
    title: 'The broker cannot be reached',
    detail: 'Try again in a moment.',
  },
  worker_unavailable: {
    status: 503,
    title: 'No trading worker could be started',
    detail: 'Nothing was queued. Send the signal again.',
  },
  store_unavailable: {
    status: 503,
    title: 'The in-memory store is unavailable',
    detail: 'Nothing was queued. Send the signal again.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database is unavailable',
    detail: 'Nothing was queued. Send the signal again.',
  },
  outcome_unknown: {
    status: 503,
    title: 'Whether the order was accepted is not known',
    detail:
      'The database stopped answering while the order was written: it may have been accepted. Look at your orders before you send it again.',
  },
  list_too_slow: {
    status: 503,
    title: 'The list takes too long',
    detail: 'Trading is not held up by it. Ask for less, by a filter or a shorter time, or try again later.',
  },
} as const satisfies Record<string, DenialRule>;

export type DenialCode = keyof typeof DENIALS;

export interface Denial {
  readonly code: DenialCode;
  readonly detail: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** What a 429 or a 503 says where nothing better is known. */
const DEFAULT_RETRY_AFTER = 5;

export function deny(code: DenialCode, more: { detail?: string; retryAfter?: number } = {}): Denial {
  const { status, detail } = ruleOf(code);
  const retryAfter = more.retryAfter ?? (status === 429 || status === 503 ? DEFAULT_RETRY_AFTER : undefined);
  return { code, detail: more.detail ?? detail, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

export const ruleOf = (code: DenialCode): DenialRule => DENIALS[code];

/** Ours, not the sender's, and nothing came of it: the platform repeats an alert that got a 5xx, and that repeat must trade. */
export const isOurFault = ({ code }: Denial): boolean =>
  ruleOf(code).status >= 500 && code !== 'outcome_unknown';

export const isDenial = (value: object): value is Denial => 'code' in value && 'detail' in value;

/** The classified events of the spec, by their audit action. */
export const SECURITY_EVENTS = [
  'webhook_ip_blocked',
  'webhook_timestamp_expired',
  'webhook_credential_attack',
  'webhook_replay_attack',
  'webhook_payload_invalid',
  'csrf_validation_failed',
] as const;
export type SecurityEvent = (typeof SECURITY_EVENTS)[number];
