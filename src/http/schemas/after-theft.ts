// What is answered about what a thief may have seen, and what is left to do about it.

import { Type } from 'typebox';
import {
  CAUSES,
  CHANGE_THERE,
  CHANGE_THERE_OF_GROUP,
  REPLACEABLE,
} from '../../domain/identity/after-theft.ts';
import { DESTINATION_KINDS } from '../../domain/told/notification.ts';
import { flag, id, orNull, saying, text, time } from './parts.ts';
import { oneOf } from './requests.ts';

const place = {
  at: time('when it was'),
  ip_address: orNull(text('from where', ['203.0.113.7'])),
  user_agent: orNull(text('with what', ['curl/8.9'])),
};
const trading_account_id = id('of the trading account');

export const AfterTheft = Type.Object(
  {
    secured_at: orNull(
      time('when sessions, API keys and known devices were ended, and destinations paused; null: never'),
    ),
    because: orNull(oneOf(CAUSES, saying('of what'))),
    exposed_since: orNull(
      time('since when somebody else may have been in: the oldest session or API key that was open then'),
    ),
    replace: Type.Array(
      Type.Object({
        kind: oneOf(REPLACEABLE),
        trading_account_id,
        account_name: text('as its owner calls it', ['Paper']),
        shown_at: orNull(time('when the secret was last shown to somebody; null: not since then'), {
          examples: [null],
        }),
        change_there: text('what has to be changed on the charting platform with it', [
          CHANGE_THERE.webhook_secret,
        ]),
      }),
      saying(
        'what still works and may be known to somebody else: POST /trading/accounts/{id}/webhook-secret or …/webhook-token replaces it',
      ),
    ),
    replace_groups: Type.Array(
      Type.Object({
        kind: oneOf(REPLACEABLE),
        group_id: id('of the group'),
        group_name: text('as its owner calls it', ['Three accounts']),
        shown_at: orNull(time('when the secret was last shown to somebody; null: not since then'), {
          examples: [null],
        }),
        change_there: text('what has to be changed on the charting platform with it', [
          CHANGE_THERE_OF_GROUP.webhook_secret,
        ]),
      }),
      saying('the same of groups: POST /trading/groups/{id}/webhook-secret or …/webhook-token replaces it'),
    ),
    destinations: Type.Array(
      Type.Object({
        id: id('of the destination'),
        name: text('as its owner calls it', ['Phone']),
        kind: oneOf(DESTINATION_KINDS),
        address: text('what it is known by', ['chat 123456789, bot 987654321']),
        created_at: time('when it was added'),
      }),
      saying(
        'paused until you confirm them (PATCH /settings/notifications/{id} with {"paused": false}) or remove them',
      ),
    ),
    accounts: Type.Array(
      Type.Object({ trading_account_id, name: text('as its owner calls it', ['Paper']) }),
      saying(
        'whose settings, webhook URL, orders and positions could be read; broker credentials are shown to nobody',
      ),
    ),
    api_keys: Type.Array(
      Type.Object({
        id: id('of the API key'),
        name: text('as its owner called it', ['robot']),
        created_at: time('when it was made'),
        last_used_at: orNull(time('when it was last used')),
      }),
      saying('that ended then'),
    ),
    deeds: Type.Array(
      Type.Object({
        ...place,
        action: text('as in the audit log', ['webhook_secret_shown']),
        success: flag('false: it was refused', true),
        resource_type: orNull(text('what it was about', ['account'])),
        resource_id: orNull(text('which one')),
      }),
      saying(
        'what was shown, made and changed in that time, as far as the audit log knows; newest first, 100 at most',
      ),
    ),
    sign_ins: Type.Array(
      Type.Object({ ...place, success: flag('false: it was refused', true) }),
      saying('in that time; newest first, 100 at most'),
    ),
  },
  { title: 'AfterTheft' },
);
