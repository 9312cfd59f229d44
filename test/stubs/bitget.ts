// Bitget: two kinds of accounts with an API each, classic (v2, bitget-classic.ts) and unified (v3, bitget-unified.ts); what is
// asked of the other kind is refused. Both are JSON, signed in headers over the time, the method, the path with its query as
// it reads, and the body.

import type { Answer, Dialect, Office, WireRequest } from '../../chaos/exchange-dialect.ts';
import { NUMBERS } from '../../chaos/exchange-dialect.ts';
import { classicRoutes, tellOrder as tellClassic } from './bitget-classic.ts';
import { tellOrder as tellUnified, unifiedRoutes } from './bitget-unified.ts';
import { busy, MARKETS, refused, said } from './bitget-words.ts';
import { bitgetStream } from './streams.ts';
import { type Call, FOR_EVER, header, hmac, listener, mayComeFrom, paramsOf } from './wire.ts';

const WINDOW_MS = 30_000;

const BAD_KEY = refused(40037, 'Apikey does not exist');

function authenticate(office: Office, request: WireRequest): Call | Answer {
  const { method, path, search, body } = request;
  const timestamp = header(request, 'access-timestamp');
  const holder = office.holderOf(header(request, 'access-key'));
  const params = paramsOf(request);
  if (!holder || !params) return BAD_KEY;
  const { apiSecret, passphrase, accountType, isDemo } = holder.standing;
  if ((header(request, 'paptrading') === '1') !== isDemo)
    return refused(40099, 'exchange environment is incorrect');
  if (header(request, 'access-passphrase') !== passphrase)
    return refused(40012, 'apikey/password is incorrect');
  const now = office.now();
  if (!(Math.abs(now - Number(timestamp)) <= WINDOW_MS)) return refused(40008, 'Request timestamp expired');
  const signed = timestamp + method + path + (search && `?${decodeURIComponent(search)}`) + body;
  if (hmac('sha256', apiSecret, signed, 'base64') !== header(request, 'access-sign'))
    return refused(40009, 'sign signature error');
  if (!mayComeFrom(holder, request.address)) return refused(40018, 'Invalid IP');
  const isUnified = path.startsWith('/api/v3/');
  if (isUnified && accountType !== 'unified')
    return refused(
      40084,
      'You are in Classic Account mode, and the Unified Account API is not supported at this time',
    );
  if (!isUnified && accountType === 'unified' && /^\/api\/v2\/(?:mix|spot\/account)\//.test(path))
    return refused(
      40085,
      'You are in Unified Account mode, and the Classic Account API is not supported at this time',
    );
  const { requestTime, receiveWindow } = params;
  const until = requestTime && receiveWindow ? Number(requestTime) + Number(receiveWindow) : FOR_EVER;
  return { holder, params, body, signedAt: now, windowMs: until - now };
}

export const bitget: Dialect = {
  roots: ['api'],
  traits: {
    refusesDuplicates: 'while_open',
    reduceOnly: true,
    fillsAfterMs: { least: 5, most: 150 },
    forgetsIdsAfterMs: null,
    limits: 'bitget',
  },
  manners: ({ accountType }) => ({ secondStop: accountType === 'classic' ? 'instead' : 'refused' }),
  stream: bitgetStream({
    classic: (order, { standing }) => tellClassic(order, standing.marginMode),
    unified: tellUnified,
  }),
  markets: MARKETS,
  refs: NUMBERS,
  idFields: ['orderId', 'clientOid', 'stopLossClientOid'],
  busy,
  // A code that means: nobody knows.
  down: () => refused(40010, 'Request timed out', 503),
  denied: BAD_KEY,
  sample: said({ orderId: '1', clientOid: 'none' }),
  open(office) {
    const classic = classicRoutes(office);
    const unified = unifiedRoutes(office);
    return listener(
      {
        open: { ...classic.open, ...unified.open },
        asked: { ...classic.asked, ...unified.asked },
        trading: [...classic.trading, ...unified.trading],
      },
      {
        authenticate: (request) => authenticate(office, request),
        said,
        forbidden: refused(40014, 'Incorrect permissions, need future order write permissions'),
        unknown: (route) => refused(40404, `there is no ${route} in this stub`, 404),
      },
    );
  },
};
