// May this keep somebody in a position? Asked of every refusal that there is, ours and the broker's; whoever adds one has to answer.
// Whoever cannot get out loses more than whoever cannot get in: what holds back an exit needs a reason, or a way round it.
// docs/architecture/getting-out.md shows this table, and a test holds it to it.

import type { DenialCode } from '../../src/domain/denial.ts';
import type { RejectionCode } from '../../src/domain/orders/order.ts';

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
const AFTERWARDS = never('about an order that was sent already');
const CREDENTIALS = never(
  'about entering and verifying credentials; an exit uses those that were verified before',
);
const LOGIN = holds(
  'security: whoever cannot log in cannot close by hand. Webhooks and API keys need no login, and go on. A new password by mail ends a lock',
);
const WHO = holds(
  'security: whoever closes must prove who they are, by hand as by webhook. The answer says what is wrong, and the same signal can be sent again',
);
const WHENCE = holds(
  'security, as the user set it. The user is told by mail (a missing certificate is shown among the signals). The kill switch halts from anywhere, and flattens from the allowed addresses',
);
const UNREADABLE = holds(
  'a message that is not understood is not guessed at: it might open something. The answer says what is wrong, `check` says it beforehand, and the platform shows it',
);
const RATE = holds(
  'the spec’s limit, which counts exits too: 60 a minute for each user, with Retry-After. Strangers are counted apart, and the kill switch is not counted. Reading from brokers has a limit of its own, which counts no exit, no flatten and no look at one',
);
const OURS = holds(
  'nothing was accepted, and the same signal can be sent again: a platform that repeats after a 5xx gets out with the repeat',
);
const SAME_KEY = holds(
  'the exit with that key was accepted already, or another request is using the key: a new key is a new exit',
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
    'no account has this address: it was replaced, or its account was deleted. Deleting is refused while something is held, unless the user insists',
  ),
  not_found: holds('this user has no such account; as above'),
  user_deactivated: holds(
    'the spec’s 403, an operator’s decision. Exits that were accepted before are executed, and entries that rest are taken back; what else is held the user closes at the broker',
  ),
  webhook_ip_blocked: WHENCE,
  ip_not_allowed: WHENCE,
  platform_certificate_missing: WHENCE,
  webhook_timestamp_expired: holds(
    'the spec’s level 2: an old exit may close what was opened since. The account sets the age, and the answer tells the time of both clocks',
  ),
  webhook_replay_attack: holds(
    'the spec’s level 4: the first delivery is executed, or was; the answer names its order. A new exit has a timestamp of its own',
  ),
  rate_limited: RATE,
  edge_rate_limited: holds(
    'the edge’s limit for each address: 2000 requests in 5 minutes. Charting platforms (`CHARTING_IPS`) are not counted',
  ),
  account_halted: passes(
    'entries only. A reversal is an entry, and is refused as a whole: close, align or flatten gets out',
  ),
  plan_simulation_only: passes(
    'whoever once had a plan gets out after it has ended; whoever never had one has opened nothing here',
  ),
  terms_not_accepted: passes(
    'whoever accepted earlier terms gets out; whoever never accepted any has opened nothing here',
  ),
  credentials_not_verified: holds(
    'only where these credentials were never verified: nobody knows whose account they open. Credentials that the broker refused since are tried for an exit',
  ),
  group_disabled: passes(
    'entries only. A disabled member is skipped, by exits too: whoever disabled it closes what it holds through its own account',
  ),
  daily_limit_reached: passes('exits are counted, but never refused for the count'),
  account_changed: holds(
    'only of `align`: the strategy has said something else in between, and the user has to see the new target first. The closes of a flatten cannot meet this',
  ),
  idempotency_conflict: SAME_KEY,
  idempotency_in_progress: SAME_KEY,
  broker_unavailable: holds(
    'only of a flatten whose lists cannot be read at the broker: it then closes what our records know, and the answer says so. An exit itself is accepted, and waits',
  ),
  worker_unavailable: OURS,
  store_unavailable: OURS,
  database_unavailable: OURS,
  outcome_unknown: holds(
    'the exit may have been accepted: then it is executed, and a repeat is recognised by its fingerprint or key',
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
  'the broker’s final word on the close itself, shown in its own words; other closes go on',
);

export const REJECTED: Readonly<Record<RejectionCode, Answer>> = {
  insufficient_margin: FINAL,
  cancelled_by_broker: holds(
    'the broker’s final word on the close itself, shown in its own words; other closes go on. Where an order is for now or not at all (SinoPac), a rest that was taken back is none: it is closed by the next order, until the deadline',
  ),
  failed_at_broker: FINAL,
  market_closed: holds(
    'the broker’s final word, shown with the hours: an order that waits until morning would close at a price that nobody has seen. A market that takes closes only is still asked',
  ),
  invalid_symbol: holds(
    'the broker no longer lists it, also after a fresh look at its list. A list that cannot be read is an outage, and an exit waits until it is over',
  ),
  invalid_quantity: holds(
    'the broker refuses the quantity of what is left: we send a close whatever the minimum or step is. Only a fraction, where whole units alone are traded, is refused by us',
  ),
  position_mode_mismatch: holds(
    'an account in hedge mode has two positions, and nobody knows which is meant. The answer says how to switch; flatten names it among what is left',
  ),
  no_position: holds(
    'nothing is held. That is said only where the broker’s position agrees with our own fills, and no entry may yet be filled',
  ),
  broker_rate_limited: passes('an exit keeps to the delay and goes on until its deadline'),
  broker_unavailable: passes(
    'an exit is tried again and again until its deadline, unless the account cannot be traded as it is set up. So it is where the broker takes nothing for a moment: it settles a funding fee, or is upgraded',
  ),
  credentials_rejected: holds(
    'the broker’s final word: the credentials were presented three times within 10 s, and are presented once more by each exit',
  ),
  expired: holds(
    'the deadline, 300 s: after that nobody knows whether the exit is still meant. The error says what was in the way',
  ),
  reversal_timeout: holds(
    'the close of a reversal was not filled in time. It stays at the broker and is followed; the order is `failed`, and its owner is told',
  ),
  account_halted: passes('entries only; a reversal’s close that was sent goes on'),
  out_of_sync: passes(
    'what exceeds the target is closed first. This code is about what was not opened, or is left to another order of ours',
  ),
  superseded: holds(
    'a later alert of the strategy was here first. An exit that only a `sync` has overtaken, to where that says the strategy stands, is made, however late it comes',
  ),
  guard_refused: passes('entries only: a close asks no guard'),
  invalid_protection: passes('entries and `protect` only: on an exit these fields are not used'),
  protection_failed: passes('a stop was refused; the close that follows is an exit like any other'),
  invalid_price: passes('entries only: an exit is always at the market'),
  too_many_resting: passes('entries only: an exit never rests'),
  replaced: passes('about an entry that rested; an exit closes what it opened like anything else'),
  cancelled_on_request: passes('about an entry that rested; the exit that takes it back goes on'),
  lapsed: passes('about an entry that rested; an exit closes what it opened like anything else'),
  sizing_failed: holds(
    'only where an exit’s quantity counts something other than units and cannot be computed. It waits until its deadline for a price or an equity that cannot be read',
  ),
  stopped_out: passes(
    'about what is not opened anew: an exit of what a stop or target has closed already ends as `done`, and one that had closed a part itself as `filled`',
  ),
};
