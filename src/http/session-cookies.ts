// The two cookies of a session, and the one by which its device is known the next time. None is ever visible to a script,
// nor sent along by another site; the refresh token and the device's go to /auth alone.

import type { FastifyReply } from 'fastify';
import { DEVICE_MS } from '../app/identity/devices.ts';

export interface CookieSettings {
  readonly accessTokenMs: number;
  readonly refreshTokenMs: number;
  /** undefined: the current domain. */
  readonly cookieDomain: string | undefined;
}

const ACCESS_COOKIE = 'access_token';
export const REFRESH_COOKIE = 'refresh_token';
export const DEVICE_COOKIE = 'known_device';

const OURS: readonly string[] = [ACCESS_COOKIE, REFRESH_COOKIE, DEVICE_COOKIE];

/**
 * The name of ours that a Cookie header has twice. Another host of our domain can set one beside ours, and which of them
 * comes first is its choice.
 */
export function cookieTwice(header: string): string | undefined {
  const names = header.split(';').map((pair) => pair.replace(/=.*$/s, '').trim());
  return OURS.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
}

const FLAGS = { httpOnly: true, secure: true, sameSite: 'strict' } as const;

const accessFlags = ({ cookieDomain }: CookieSettings) => ({
  ...FLAGS,
  path: '/',
  ...(cookieDomain ? { domain: cookieDomain } : {}),
});
const REFRESH_FLAGS = { ...FLAGS, path: '/auth' } as const;

export const seconds = (ms: number): number => Math.ceil(ms / 1000);

export function setAccessCookie(reply: FastifyReply, token: string, settings: CookieSettings): void {
  const maxAge = seconds(settings.accessTokenMs);
  reply.setCookie(ACCESS_COOKIE, token, { ...accessFlags(settings), maxAge });
}

export function setRefreshCookie(reply: FastifyReply, token: string, settings: CookieSettings): void {
  reply.setCookie(REFRESH_COOKIE, token, { ...REFRESH_FLAGS, maxAge: seconds(settings.refreshTokenMs) });
}

/** It outlives the session: at the next login nobody else's guesses count against it. */
export function setDeviceCookie(reply: FastifyReply, token: string): void {
  reply.setCookie(DEVICE_COOKIE, token, { ...REFRESH_FLAGS, maxAge: seconds(DEVICE_MS) });
}

export function clearSessionCookies(reply: FastifyReply, settings: CookieSettings): void {
  reply.clearCookie(ACCESS_COOKIE, accessFlags(settings));
  reply.clearCookie(REFRESH_COOKIE, REFRESH_FLAGS);
}
