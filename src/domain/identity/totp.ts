// Time-based one-time passwords (RFC 6238) as every authenticator app knows them: SHA-1, 30 seconds, 6 digits. And the
// codes for the day on which the phone is lost.

import { createHmac } from 'node:crypto';
import { isSameSecret } from '../signals/secret-digest.ts';

const STEP_MS = 30_000;
const DIGITS = 6;

export const stepAt = (now: number): number => Math.floor(now / STEP_MS);

export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

/** The step that the code belongs to: this one, or a neighbour, since clocks differ and people type slowly. */
export function matchingStep(secret: Uint8Array, code: string, now: number): number | null {
  const steps = [-1, 0, 1].map((offset) => stepAt(now) + offset);
  // All are compared, so that the time taken does not tell how near a guess was.
  const matches = steps.filter((step) => isSameSecret(code, totpCode(secret, step)));
  return matches.at(-1) ?? null;
}

export const isTotpShaped = (code: string): boolean => /^\d{6}$/.test(code);

/** What a QR code for the authenticator app holds. */
export function otpauthUri(secret: Uint8Array, email: string): string {
  const label = encodeURIComponent(`Fillpath:${email}`);
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=Fillpath&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** 80 random bits, for reading and typing: ABCD-EFGH-IJKL-MNOP. */
export const recoveryCode = (bytes: Uint8Array): string => (base32(bytes).match(/.{4}/g) ?? []).join('-');

/** However it was typed. */
export const plainRecoveryCode = (typed: string): string => typed.toUpperCase().replace(/[\s-]/g, '');
