// May this keep somebody in a position? Asked of every refusal that there is, ours and the broker's; whoever adds one has to answer.
// Whoever cannot get out loses more than whoever cannot get in: what holds back an exit needs a reason, or a way round it.
// docs/architecture/getting-out.md shows this table, and a test holds it to it.

import type { DenialCode } from './denial.ts';
import type { RejectionCode } from './orders/order.ts';

/**
 * `never`: it does not stand in the way of anything that gets out. `passes`: it does, and lets exits pass. `holds`: it can hold one back,
 * and why that is right, or what is done about it.
 */
export interface Answer {
  readonly exit: 'never' | 'passes' | 'holds';
  readonly why: string;
}

const never = (why: string): Answer => ({ exit: 'never', why });
const passes = (why: string): Answer => ({ exit: 'passes', why });
const holds = (why: string): Answer => ({ exit: 'holds', why });

const ADMINISTRATION = never('administration, and settings that no order needs');
const READING = never('reading; nothing that trades waits for it');
const AFTERWARDS = never('about an order that was sent');
const CREDENTIALS = never('sending and verifying credentials; an exit goes by what was verified before');
const LOGIN = holds(
  'security: who cannot log in cannot close by hand. Webhooks and API keys need no login, and go on; a new password by mail ends a lock',
);
const WHO = holds(
  'security: who closes must prove who they are, by hand as by webhook. What is wrong is said, and nothing of the signal is used up',
);
const WHENCE = holds(
  'security, as the user set it; told of by mail (a missing certificate: among the signals). The kill switch halts from anywhere, and flattens from the list’s addresses',
);
const UNREADABLE = holds(
  'what is not understood is not guessed: it might open. The answer says what is wrong, `check` says it before, and the platform shows it',
);
const RATE = holds(
  'the spec’s limit, which counts exits too: 60 a minute of the user’s own, with Retry-After. Strangers are counted apart, and the kill switch is not counted. What is read of brokers is counted apart, and no exit, flatten or look at one is among it',
);
const OURS = holds(
  'nothing was accepted, and nothing of the signal is used up: a platform that repeats after a 5xx gets out with the repeat',
);
const SAME_KEY = holds(
  'the exit of that key is there already, or another request has it: a new key is a new exit',
);

export const DENIED: Readonly<Record<DenialCode, Answer>> = {
  webhook_payload_invalid: UNREADABLE,
  protection_unsupported: passes('entries and `protect` only: on an exit these fields are not used'),
  order_kind_unsupported: passes('entries only: on an exit these fields are not used'),
  payload_too_large: UNREADABLE,
  request_invalid: UNREADABLE,
  unauthenticated: WHO,
  webhook_credential_attack: WHO,
  csrf_validation_failed: WHO,
  origin_not_allowed: WHO,
  webhook_not_found: holds(
    'no account has this address: it was replaced, or its account deleted, which is refused while something is held unless the user insists',
  ),
  not_found: holds('no such account of this user, as above'),
  user_deactivated: holds(
    'the spec’s 403, an operator’s decision. What was accepted before is closed; what is held is left to the user at the broker',
  ),
  webhook_ip_blocked: WHENCE,
  ip_not_allowed: WHENCE,
  platform_certificate_missing: WHENCE,
  webhook_timestamp_expired: holds(
    'the spec’s level 2: an old exit may close what was opened since. The account sets the age, and the answer says both clocks',
  ),
  webhook_replay_attack: holds(
    'the spec’s level 4: the first one is executed, or was; the answer names its order. A new exit has its own timestamp',
  ),
  rate_limited: RATE,
  edge_rate_limited: holds(
    'the edge’s limit of an address: 2000 requests in 5 minutes, those of charting platforms (`CHARTING_IPS`) not among them',
  ),
  account_halted: passes(
    'entries only. A reversal is an entry, and refused whole: close, align or flatten gets out',
  ),
  plan_simulation_only: passes(
    'who ever had a plan gets out after it; who never had one has opened nothing here',
  ),
  terms_not_accepted: passes(
    'who accepted earlier terms gets out; who never accepted any has opened nothing here',
  ),
  credentials_not_verified: holds(
    'only where these credentials were never verified: nobody knows whose account they open. Refused ones are tried for an exit',
  ),
  group_disabled: passes(
    'entries only. A member that is disabled is skipped, by exits too: who disabled it closes what it holds by its account',
  ),
  daily_limit_reached: passes('exits are counted, and never refused for the count'),
  account_changed: holds(
    '`align`: the strategy has said something else in between, and where to is to be seen first. A flatten’s closes claim nothing that could be contested',
  ),
  idempotency_conflict: SAME_KEY,
  idempotency_in_progress: SAME_KEY,
  broker_unavailable: holds(
    'of a flatten whose lists cannot be read: closed is then what we know of, and the answer says so. An exit itself is accepted, and waits',
  ),
  worker_unavailable: OURS,
  store_unavailable: OURS,
  database_unavailable: OURS,
  outcome_unknown: holds(
    'the exit may have been accepted: then it is executed, and a repeat is decided by its fingerprint or key',
  ),
  invalid_credentials: LOGIN,
  login_code_wrong: LOGIN,
  login_locked: LOGIN,
  login_token_invalid: LOGIN,
  passwords_busy: LOGIN,
  captcha_failed: LOGIN,
  captcha_unavailable: LOGIN,
  reset_token_invalid: LOGIN,
  session_required: ADMINISTRATION,
  admin_required: ADMINISTRATION,
  wrong_host: ADMINISTRATION,
  admin_exists: ADMINISTRATION,
  email_taken: ADMINISTRATION,
  own_deactivation: ADMINISTRATION,
  terms_version_exists: ADMINISTRATION,
  terms_version_outdated: ADMINISTRATION,
  password_wrong: ADMINISTRATION,
  password_weak: ADMINISTRATION,
  verify_token_invalid: ADMINISTRATION,
  email_not_verified: ADMINISTRATION,
  email_already_verified: ADMINISTRATION,
  totp_code_wrong: ADMINISTRATION,
  totp_already_enabled: ADMINISTRATION,
  totp_not_enrolled: ADMINISTRATION,
  allowed_ip_exists: ADMINISTRATION,
  notification_address_invalid: ADMINISTRATION,
  too_many: ADMINISTRATION,
  group_not_found: ADMINISTRATION,
  group_conflict: ADMINISTRATION,
  orders_under_way: never('keeps an account from being deleted while it may hold something'),
  positions_open: never('keeps an account from being deleted while it may hold something'),
  credentials_invalid: CREDENTIALS,
  credentials_missing: CREDENTIALS,
  credentials_unreadable: CREDENTIALS,
  credentials_rejected: CREDENTIALS,
  account_unfit: CREDENTIALS,
  not_a_dead_letter: AFTERWARDS,
  nothing_to_look_for: AFTERWARDS,
  not_settleable: AFTERWARDS,
  not_resumable: AFTERWARDS,
  not_resting: AFTERWARDS,
  too_many_at_once: READING,
  list_too_slow: READING,
};

const FINAL = holds(
  'the broker’s final word on the close itself, in its own words; what else there is to close goes on',
);

export const REJECTED: Readonly<Record<RejectionCode, Answer>> = {
  insufficient_margin: FINAL,
  cancelled_by_broker: FINAL,
  failed_at_broker: FINAL,
  market_closed: holds(
    'the broker’s final word, with the hours: an order that waits until morning would close at a price that nobody has seen. A market that only takes closes is asked',
  ),
  invalid_symbol: holds(
    'the broker lists it no longer, also after a fresh look at its list; a list that cannot be read is an outage, which an exit waits out',
  ),
  invalid_quantity: holds(
    'the broker’s word on what is left, which it names: a close is sent whatever its minimum or step. A fraction where only whole ones are traded is refused by us',
  ),
  position_mode_mismatch: holds(
    'an account in hedge mode has two positions, and which is meant is not known. The answer says how to switch; flatten names it among what is left',
  ),
  no_position: holds(
    'proof that nothing is held: only on a position that agrees with our own fills, and after an entry that may yet be filled has ended',
  ),
  broker_rate_limited: passes('an exit keeps to the delay and goes on until its deadline'),
  broker_unavailable: passes(
    'an exit makes rounds until its deadline. Not where the account itself cannot be traded as it is set',
  ),
  credentials_rejected: holds(
    'presented three times within 10 s, and then once by each exit: the broker’s final word',
  ),
  expired: holds(
    'the deadline, 300 s: later than that nobody knows whether the exit is still meant. The error says what was in the way',
  ),
  reversal_timeout: holds(
    'a reversal whose close was not filled in time: that close stays at the broker and is followed, the order is `failed` and told of',
  ),
  account_halted: passes('entries only; a reversal’s close that was sent goes on'),
  out_of_sync: passes(
    'what exceeds the target is closed first; this is about what was not opened, or is left to another order of ours',
  ),
  superseded: holds(
    'the strategy has gone elsewhere since. An exit to where it still stands is made, however late it comes',
  ),
  guard_refused: passes('entries only: a close asks no guard'),
  invalid_protection: passes('entries and `protect` only: on an exit these fields are not used'),
  protection_failed: passes(
    'it is a stop that was refused; the close that follows is an exit like any other',
  ),
  invalid_price: passes('entries only: an exit is at the market'),
  too_many_resting: passes('entries only: it would be one more that rests'),
  replaced: passes('it is an entry that rested; what it opened is left by an exit like any other'),
  cancelled_on_request: passes('it is an entry that rested; the exit that takes it back goes on'),
  lapsed: passes('it is an entry that rested; what it opened is left by an exit like any other'),
  sizing_failed: holds(
    'only where an exit counts something else than units, and what that is cannot be known: a price or an equity that cannot be read is waited for until the deadline',
  ),
  stopped_out: passes('entries only: an exit of what protection has closed already ends well'),
};
