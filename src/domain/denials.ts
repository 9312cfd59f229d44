// Every refusal of ours, in one closed table: its code, its status, its audit action, whether it is a classified
// attack that alerts the user, and what it tells the person. (A refusal of the broker's is a rejection: rejection.ts.)

import { IDENTITY_DENIALS } from './identity/denials.ts';

export interface DenialRule {
  readonly status: number;
  readonly title: string;
  /** Why, where the title does not say it; the place that denies may know more. */
  readonly reason?: string;
  /** What to do. */
  readonly advice: string;
  /** Where the spec fixes the text; else it is the reason and the advice. */
  readonly detail?: string;
  /** The classified events of the spec have an audit action of their own. */
  readonly audit?: string;
  readonly alert?: true;
}

export const DENIALS = {
  webhook_payload_invalid: {
    status: 400,
    title: 'The webhook body is invalid',
    advice:
      'Send a JSON object with action, symbol, quantity, timestamp and secret; the page Check shows what a message lacks, and so does POST /trading/accounts/{id}/check.',
    audit: 'webhook_payload_invalid',
  },
  protection_unsupported: {
    status: 400,
    title: 'The broker cannot keep this protection',
    advice:
      'Leave out what this broker cannot do, or send a quantity that it takes stops for. Nothing was traded.',
  },
  order_kind_unsupported: {
    status: 400,
    title: 'The broker does not take this kind of entry',
    advice:
      'Send it at the market, or as this broker takes it: the Trade drawer offers that, and GET /public/brokers says it. Nothing was traded.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    advice: 'Send a smaller body: at most 16 KiB to a webhook, 64 KiB elsewhere.',
    audit: 'webhook_payload_invalid',
  },
  request_invalid: {
    status: 400,
    title: 'The request is invalid',
    advice: 'Correct the request and send it again; /docs describes what each call takes.',
  },
  unauthenticated: {
    status: 401,
    title: 'You are not logged in',
    reason: 'The request shows no valid session, token or API key, or it has expired.',
    advice: 'Log in, or send Authorization: Bearer with a valid token or API key.',
  },
  session_required: {
    status: 403,
    title: 'Only a session may do this',
    reason:
      'An API key cannot manage sessions, keys, passwords, the second factor, allowed IPs, notifications, webhook secrets and tokens, or say what became of an order.',
    advice: 'Log in, and do it in that session.',
  },
  admin_required: {
    status: 403,
    title: 'Only an admin may do this',
    reason: 'You are logged in as a user without this right.',
    advice: 'Log in as an admin.',
  },
  webhook_not_found: {
    status: 404,
    title: 'No such webhook',
    // 404 and no word more: the answer must not reveal whether the account exists.
    advice: 'Check the webhook URL on your account page, and copy it again.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    reason: 'There is nothing at this address.',
    advice: 'Check the address and the id in it; /docs lists every call.',
  },
  user_deactivated: {
    status: 403,
    title: 'This user is deactivated',
    advice: 'Ask the operator of this service to reactivate the user.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    advice: 'Slow down, and try again in a moment; Retry-After says when.',
  },
  too_many_at_once: {
    status: 429,
    title: 'Too many requests at once',
    advice: 'Wait for the answers to some of them, then ask again.',
  },
  webhook_ip_blocked: {
    status: 403,
    title: 'This IP address is not allowed',
    advice: 'Send from an address on the user’s list of allowed IPs, or add this one to it.',
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
    reason:
      "This account takes alerts only with the charting platform's client certificate, and this request came without it.",
    advice:
      'Send it from the platform, or turn this requirement off among the account’s settings (require_platform_certificate).',
  },
  /** The same check on the trading routes (the spec gives both one audit action); also of a foreign IP at an admin path. */
  ip_not_allowed: {
    status: 403,
    title: 'This IP address is not allowed',
    advice: 'Send from an address on your list of allowed IPs, or add this one to it.',
    audit: 'webhook_ip_blocked',
    alert: true,
  },
  webhook_timestamp_expired: {
    status: 401,
    title: 'Request expired',
    // The spec's words; the particulars stand in the advice.
    detail: 'Request expired',
    advice:
      'Send each signal as soon as it is made, with the time at which it was made, and keep the sender’s clock in step with a time server.',
    audit: 'webhook_timestamp_expired',
    alert: true,
  },
  webhook_credential_attack: {
    status: 401,
    title: 'The webhook secret is wrong',
    advice: "Put the account's current webhook secret into the alert.",
    audit: 'webhook_credential_attack',
    alert: true,
  },
  webhook_replay_attack: {
    status: 409,
    title: 'This signal was received before',
    reason: 'The same signal is executed once.',
    advice:
      'If it was sent twice by mistake, there is nothing to do. For a new order, send a new signal with its own timestamp.',
    audit: 'webhook_replay_attack',
    alert: true,
  },
  origin_not_allowed: {
    status: 403,
    title: 'This origin may not call the service',
    advice:
      'Call from a page of an allowed origin (ALLOWED_ORIGINS), or with Authorization: Bearer and without cookies.',
  },
  /** A name that leads here and is not ours may be a page's own: it could read us in its visitor's browser (DNS rebinding). */
  wrong_host: {
    status: 421,
    title: 'The service is not administered under this name',
    advice: 'Use the address in BASE_URL, or add the name to ALLOWED_HOSTS.',
  },
  edge_rate_limited: {
    status: 429,
    title: 'Too many requests from this address',
    reason: 'This address is blocked for a while.',
    advice: 'Send nothing until the time given in Retry-After has passed, then send less.',
  },
  csrf_validation_failed: {
    status: 403,
    title: 'The CSRF token is missing or wrong',
    advice: 'Send the session’s CSRF token in the header X-CSRF-Token; GET /auth/session has it.',
    audit: 'csrf_validation_failed',
  },
  admin_exists: {
    status: 409,
    title: 'There is already an admin',
    reason: 'The first admin is made only once.',
    advice: 'Log in as that admin.',
  },
  email_taken: {
    status: 409,
    title: 'There is already a user with this email address',
    advice: 'Log in with it, or ask for a new password under /auth/forgot-password.',
  },
  own_deactivation: {
    status: 409,
    title: 'You cannot deactivate yourself',
    reason: 'A service without an active admin could not be administered.',
    advice: 'Ask another admin to do it.',
  },
  not_a_dead_letter: {
    status: 409,
    title: 'This order is not in the dead-letter queue',
    reason: 'Its fill verification is under way or has ended.',
    advice: 'Choose one that GET /deployment/dead-letters lists.',
  },
  nothing_to_look_for: {
    status: 409,
    title: 'There is nothing to look for',
    reason: 'The order’s fill is known, or it has not been sent yet.',
    advice: 'Read the order’s story, or GET /trading/orders/{id}.',
  },
  not_resting: {
    status: 409,
    title: 'This order is not resting at the broker',
    reason:
      'Only an entry that waits at the broker can be cancelled. This one has ended, or has not been sent yet.',
    advice: 'Read the order’s story, or GET /trading/orders/{id}.',
  },
  not_resumable: {
    status: 409,
    title: 'This protection cannot be resumed',
    reason: 'It is looked after already, its position has another protection, or its account is gone.',
    advice:
      'Read its story, or GET /trading/protections/{id}. If the position has another protection by now, change that one with "protect". Once that position is closed, this one can be resumed, and what is left of it at the broker is removed.',
  },
  not_settleable: {
    status: 409,
    title: 'This order cannot be settled by hand',
    reason:
      'What became of it is known, or is still being found out: only a dead letter, or an order that has been unknown for 10 minutes, is settled by its owner.',
    advice:
      'Read the order’s story, or GET /trading/orders/{id}; have it looked up again there, or with POST /trading/orders/{id}/look.',
  },
  terms_version_exists: {
    status: 409,
    title: 'This version of the terms is already published',
    reason: 'A text that people have accepted is never changed.',
    advice: 'Publish the text as a new version.',
  },
  ...IDENTITY_DENIALS,
  account_halted: {
    status: 403,
    title: 'The account is halted',
    reason: 'New entries are refused while the kill switch is on.',
    advice: 'Resume the account to trade again. Exits and closes still go through.',
  },
  plan_simulation_only: {
    status: 403,
    title: 'This plan is limited to simulation',
    advice: 'Send it as a simulation (?simulation=true), or choose a plan with real trading.',
  },
  terms_not_accepted: {
    status: 403,
    title: 'The current terms of service are not accepted',
    advice:
      'Read the terms and accept them on the page Today, or with GET /public/terms and POST /settings/terms.',
  },
  credentials_not_verified: {
    status: 400,
    title: 'The broker credentials are not verified',
    advice: 'Verify the account’s broker credentials before placing real orders.',
  },
  daily_limit_reached: {
    status: 429,
    title: 'The daily order limit is reached',
    reason: 'The plan’s orders for this UTC day are used up.',
    advice: 'Wait for the next day, or choose a larger plan.',
  },
  group_disabled: {
    status: 403,
    title: 'The group is disabled',
    reason: 'Entries are refused while the group, or every member of it, is disabled.',
    advice: 'Enable it to trade again. Exits and closes still go through to its enabled members.',
  },
  group_not_found: {
    status: 404,
    title: 'No such group',
    reason: 'You have no such group.',
    advice: 'Your groups are on the page Groups, and in GET /trading/groups.',
  },
  group_conflict: {
    status: 409,
    title: 'The group cannot be made or changed like this',
    reason: 'You have as many groups as allowed, or this one was changed at the same moment.',
    advice: 'Delete a group that you no longer need, or read it again and repeat the change.',
  },
  orders_under_way: {
    status: 409,
    title: 'The account has orders under way',
    advice: 'Wait until they are filled or have ended, then try again.',
  },
  positions_open: {
    status: 409,
    title: 'The account holds positions at the broker',
    advice: 'Close them first, or delete the account and leave them at the broker (?keep_positions=true).',
  },
  account_changed: {
    status: 409,
    title: 'The account was changed at the same moment',
    advice: 'Read the account again, and repeat the request if it still applies.',
  },
  credentials_invalid: {
    status: 400,
    title: 'These are not sealed credentials',
    advice: 'Seal the credentials to the key under /auth/public-key: a compact JWE, ECDH-ES with A256GCM.',
  },
  credentials_missing: {
    status: 400,
    title: 'The account has no broker credentials',
    advice: 'Enter them first, on the account’s page or with PUT /trading/accounts/{id}/credentials.',
  },
  credentials_unreadable: {
    status: 400,
    title: 'The broker credentials cannot be opened',
    // The same words for a wrong key, a wrong user and a wrong account.
    advice:
      'Seal {user_id, trading_account_id, credentials} of this account to the key under /auth/public-key, and send them again.',
  },
  credentials_rejected: {
    status: 400,
    title: 'The broker refuses the credentials',
    advice: 'Check them at your broker, and send the right ones.',
  },
  account_unfit: {
    status: 409,
    title: 'The account cannot be traded as it is',
    advice: 'Change it at your broker as the message says, and verify it again.',
  },
  terms_version_outdated: {
    status: 409,
    title: 'This is not the current version of the terms',
    advice: 'Read the current terms under /public/terms and accept that version.',
  },
  allowed_ip_exists: {
    status: 409,
    title: 'This address is already on the list',
    advice: 'Nothing to do. GET /settings/allowed-ips shows the list.',
  },
  notification_address_invalid: {
    status: 400,
    title: 'This address cannot be notified',
    advice: 'Send what this kind of destination needs: a url, or for Telegram bot_token and chat_id.',
  },
  too_many: {
    status: 409,
    title: 'You have as many as allowed',
    advice: 'Remove one that you no longer need, then try again.',
  },
  idempotency_conflict: {
    status: 409,
    title: 'This Idempotency-Key belongs to another request',
    advice: 'Use a new key for a new order.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request with this Idempotency-Key is under way',
    advice: 'Wait until it is answered, then ask again with the same key.',
  },
  broker_unavailable: {
    status: 503,
    title: 'The broker cannot be reached',
    advice: 'Try again in a moment.',
  },
  worker_unavailable: {
    status: 503,
    title: 'No trading worker could be started',
    reason: 'Nothing was queued.',
    advice: 'Send the order again in a moment.',
  },
  store_unavailable: {
    status: 503,
    title: 'The in-memory store is unavailable',
    reason: 'Nothing was queued.',
    advice: 'Send the request again in a moment.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database is unavailable',
    reason: 'Nothing was queued.',
    advice: 'Send the request again in a moment.',
  },
  outcome_unknown: {
    status: 503,
    title: 'It is not known whether the order was accepted',
    reason: 'The database stopped answering while the order was written: it may have been accepted.',
    advice: 'Look at your orders before you send it again.',
  },
  list_too_slow: {
    status: 503,
    title: 'The list takes too long',
    reason: 'Trading is not held up by it.',
    advice: 'Use a filter or a shorter time, or try again later.',
  },
} as const satisfies Record<string, DenialRule>;
