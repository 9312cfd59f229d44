// Session tokens: HS256, with the algorithm pinned and issuer, audience and type checked. A token of one kind is
// nothing to the others.

import { createHash, randomUUID } from 'node:crypto';
import { createSigner, createVerifier } from 'fast-jwt';
import type { SessionId, UserId } from '../../domain/ids.ts';

const ISSUER = 'fillpath';

export type TokenKind =
  | 'access'
  | 'refresh'
  /** Between the password and the second factor of one login. */
  | 'login'
  /** Of a device that its user has logged in with: see devices.ts. */
  | 'device';

interface Claims {
  readonly user: UserId;
  /** Of access and refresh tokens. */
  readonly session: SessionId | null;
  /** Of login and device tokens: which password was right. With another one since then, the token is worth nothing. */
  readonly stamp?: string;
  readonly device?: string;
}

export interface Tokens {
  issue(kind: TokenKind, claims: Claims, lifetimeMs: number): string;
  /** Null for whatever is not a valid, unexpired token of this kind. */
  read(kind: TokenKind, token: string): Claims | null;
}

interface Payload {
  sub: UserId;
  sid?: SessionId;
  pws?: string;
  did?: string;
  typ: TokenKind;
  exp: number;
}

export function createTokens({ secret, clock }: { secret: string; clock: { now(): number } }): Tokens {
  const sign = createSigner({ key: secret, algorithm: 'HS256' });
  const verify = createVerifier({
    key: secret,
    algorithms: ['HS256'],
    allowedIss: ISSUER,
    allowedAud: ISSUER,
    // The two above are checked only where they are there.
    requiredClaims: ['iss', 'aud', 'sub', 'typ', 'exp'],
    // The expiry is compared with our own clock, below.
    ignoreExpiration: true,
  });
  return {
    issue(kind, { user, session, stamp, device }, lifetimeMs) {
      const now = clock.now();
      return sign({
        iss: ISSUER,
        aud: ISSUER,
        sub: user,
        ...(session ? { sid: session } : {}),
        ...(stamp ? { pws: stamp } : {}),
        ...(device ? { did: device } : {}),
        typ: kind,
        jti: randomUUID(),
        iat: Math.floor(now / 1000),
        exp: Math.ceil((now + lifetimeMs) / 1000),
      });
    },
    read(kind, token) {
      try {
        const payload = verify(token) as Payload;
        if (payload.typ !== kind || typeof payload.exp !== 'number' || payload.exp * 1000 <= clock.now())
          return null;
        const { sub: user, sid: session = null, pws: stamp, did: device } = payload;
        return {
          user,
          session,
          ...(stamp === undefined ? {} : { stamp }),
          ...(device === undefined ? {} : { device }),
        };
      } catch {
        return null;
      }
    },
  };
}

/** How refresh and reset tokens, recovery codes and API keys stand in the database. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
