import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createTokens, hashToken, type TokenKind } from '../../src/app/identity/tokens.ts';
import type { SessionId, UserId } from '../../src/domain/ids.ts';
import { countingHasher } from '../http/visitor.ts';
import { openWorld, settableClock } from '../world.ts';

const SECRET = 'a secret for signing, of 32 characters and up';
const USER = '0198c0de-0000-7000-8000-000000000001' as UserId;
const SESSION = '0198c0de-0000-7000-8000-000000000002' as SessionId;
const CLAIMS = { user: USER, session: SESSION };
const KINDS: readonly TokenKind[] = ['access', 'refresh', 'login'];
const MINUTE = 60_000;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());

/** A token made by hand, as whoever attacks would. */
function forge(
  header: object,
  payload: object,
  sign: (text: string) => string = (text) => createHmac('sha256', SECRET).update(text).digest('base64url'),
): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${sign(text)}`;
}

const HEADER = { alg: 'HS256', typ: 'JWT' };

function payloadAt(now: number) {
  const seconds = Math.floor(now / 1000);
  return {
    iss: 'fillpath',
    aud: 'fillpath',
    sub: USER,
    sid: SESSION,
    typ: 'access',
    iat: seconds,
    exp: seconds + 600,
  };
}

describe('a token', () => {
  const clock = settableClock();
  const tokens = createTokens({ secret: SECRET, clock });
  const payload = payloadAt(clock.now());

  for (const kind of KINDS)
    test(`of the kind ${kind} is nothing to the others`, () => {
      const token = tokens.issue(kind, CLAIMS, MINUTE);
      for (const asked of KINDS)
        assert.deepEqual(tokens.read(asked, token), asked === kind ? CLAIMS : null, asked);
    });

  test('is signed with HS256 and says who made it, for whom, what for and until when', () => {
    const [header, body] = tokens.issue('access', CLAIMS, 30 * MINUTE).split('.');
    assert.equal(decode(header).alg, 'HS256');
    const { jti, iat, exp, ...rest } = decode(body);
    assert.deepEqual(rest, { iss: 'fillpath', aud: 'fillpath', sub: USER, sid: SESSION, typ: 'access' });
    assert.equal(exp - iat, 1800);
    assert.match(jti, /^[0-9a-f-]{36}$/);
  });

  test('is never the same twice, even in one millisecond', () => {
    const made = Array.from({ length: 100 }, () => tokens.issue('refresh', CLAIMS, MINUTE));
    assert.equal(new Set(made.map(hashToken)).size, 100);
  });

  test('expires to the second, by our own clock', () => {
    const own = settableClock();
    const timed = createTokens({ secret: SECRET, clock: own });
    const token = timed.issue('access', CLAIMS, MINUTE);
    own.advance(MINUTE - 1);
    assert.deepEqual(timed.read('access', token), CLAIMS);
    own.advance(1);
    assert.equal(timed.read('access', token), null);
  });

  test('made by hand as we make it is read: the forgeries below fail by what they change alone', () => {
    assert.deepEqual(tokens.read('access', forge(HEADER, payload)), CLAIMS);
  });

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const hmac = (algorithm: string, key: string) => (text: string) =>
    createHmac(algorithm, key).update(text).digest('base64url');
  const forgeries: Record<string, string> = {
    'without a signature, alg none': forge({ alg: 'none', typ: 'JWT' }, payload, () => ''),
    'without a signature, alg None': forge({ alg: 'None' }, payload, () => ''),
    'without a signature, alg HS256': forge(HEADER, payload, () => ''),
    'alg none, with our signature': forge({ alg: 'none' }, payload),
    'without an algorithm': forge({ typ: 'JWT' }, payload),
    HS384: forge({ alg: 'HS384' }, payload, hmac('sha384', SECRET)),
    HS512: forge({ alg: 'HS512' }, payload, hmac('sha512', SECRET)),
    RS256: forge({ alg: 'RS256' }, payload, (text) =>
      signWith('sha256', Buffer.from(text), privateKey).toString('base64url'),
    ),
    'RS256 by name, signed with our secret': forge({ alg: 'RS256' }, payload),
    'signed with another secret': forge(HEADER, payload, hmac('sha256', `${SECRET}!`)),
    'signed with an empty secret': forge(HEADER, payload, hmac('sha256', '')),
    'by another issuer': forge(HEADER, { ...payload, iss: 'elsewhere' }),
    'without an issuer': forge(HEADER, { ...payload, iss: undefined }),
    'for another audience': forge(HEADER, { ...payload, aud: 'elsewhere' }),
    'without an audience': forge(HEADER, { ...payload, aud: undefined }),
    'of another type': forge(HEADER, { ...payload, typ: 'refresh' }),
    'without a type': forge(HEADER, { ...payload, typ: undefined }),
    'without a user': forge(HEADER, { ...payload, sub: undefined }),
    'without an expiry': forge(HEADER, { ...payload, exp: undefined }),
    'with an expiry in words': forge(HEADER, { ...payload, exp: '4102444800' }),
    expired: forge(HEADER, { ...payload, exp: Math.floor(clock.now() / 1000) }),
    'with a key of its own in the header': forge(
      { ...HEADER, jwk: { kty: 'oct', k: 'AAAA' } },
      payload,
      hmac('sha256', '\0\0\0'),
    ),
    empty: '',
    'two dots': '..',
    'one part': encode(payload),
  };
  for (const [what, token] of Object.entries(forgeries))
    test(`${what} is nothing`, () => assert.equal(tokens.read('access', token), null));

  test('with any one character changed is nothing', () => {
    const token = tokens.issue('access', CLAIMS, MINUTE);
    // The last character of a part carries spare bits: it may spell the same bytes.
    const ends = new Set(
      token.split('.').map((_, part, parts) => parts.slice(0, part + 1).join('.').length - 1),
    );
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.stringMatching(/^[\w-]$/), (place, character) => {
        fc.pre(token[place] !== character && !ends.has(place));
        const tampered = token.slice(0, place) + character + token.slice(place + 1);
        assert.equal(tokens.read('access', tampered), null);
      }),
    );
  });

  test('any text is read without a fault', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(fc.json(), fc.json(), fc.base64String())
        .map(([head, body, tail]) =>
          [Buffer.from(head).toString('base64url'), Buffer.from(body).toString('base64url'), tail].join('.'),
        ),
    );
    fc.assert(fc.property(text, (any) => assert.equal(tokens.read('access', any), null)));
  });

  test('carries any claims there and back', () => {
    const claims = fc.record(
      {
        user: fc.uuid().map((id) => id as UserId),
        session: fc.option(fc.uuid().map((id) => id as SessionId)),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(
        claims,
        fc.constantFrom(...KINDS),
        fc.integer({ min: 1, max: 10 ** 11 }),
        (made, kind, ms) => {
          assert.deepEqual(tokens.read(kind, tokens.issue(kind, made, ms)), made);
        },
      ),
    );
  });
});

describe('a forged token at the door', () => {
  test('is 401, by cookie and by bearer', async (t) => {
    const world = await openWorld(t, { hasher: countingHasher(), env: { JWT_SECRET: SECRET } });
    const visitor = await world.login();
    const good = visitor.cookie('access_token') ?? '';
    const payload = decode(good.split('.')[1]);
    const status = async (headers: Record<string, string>) =>
      (await world.request({ method: 'GET', url: '/auth/session', headers })).status;
    const both = async (token: string) => [
      await status({ cookie: `access_token=${token}` }),
      await status({ authorization: `Bearer ${token}` }),
    ];
    assert.deepEqual(await both(good), [200, 200]);
    assert.deepEqual(await both(forge(HEADER, payload)), [200, 200]);
    const bad = {
      none: forge({ alg: 'none' }, payload, () => ''),
      'another issuer': forge(HEADER, { ...payload, iss: 'elsewhere' }),
      'another audience': forge(HEADER, { ...payload, aud: 'elsewhere' }),
      'a refresh token': visitor.cookie('refresh_token') ?? '',
      expired: forge(HEADER, { ...payload, exp: payload.iat - 1 }),
      "another user's session": forge(HEADER, { ...payload, sub: USER }),
      'no session': forge(HEADER, { ...payload, sid: undefined }),
      'a session that never was': forge(HEADER, { ...payload, sid: SESSION }),
      'a session that is no id': forge(HEADER, { ...payload, sid: 'x' }),
    };
    for (const [what, token] of Object.entries(bad)) assert.deepEqual(await both(token), [401, 401], what);
  });
});
