// Who is inside Redis can write whatever they like there, and say again what was said before. So what one process tells
// another carries a MAC, under a key that Redis never sees, over the text and the place that it is for: an answer is good
// at the address of its question alone, a request in the queue of its recipient, a word about a host for that host. A
// request besides says until when it is good, and is taken once. What does not fit is as if it had never come.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Log } from './connection.ts';

/** What it is for. */
type Place = readonly [kind: 'reply' | 'queue' | 'present', ...name: string[]];

export interface Signatures {
  sign(place: Place, text: string): string;
  /** Null: nobody who has the key has said this here. */
  read(place: Place, signed: string): string | null;
  /** For whoever takes it from the queue first, within this time. */
  signRequest(queue: string, text: string, ttlMs: number): string;
  readRequest(queue: string, signed: string): string | null;
  /** How many were not read. */
  refused(): number;
}

export interface SignaturesDeps {
  readonly key: Buffer;
  /** As other processes have it too, more or less. */
  readonly clock: { now(): number };
  readonly log: Log | undefined;
}

/** Of a clock that is further off than this, requests are lost. */
const CLOCKS_APART_MS = 300_000;
/** Who has taken more than so many since then may be made to take one once more, while it is good. */
const MOST_REMEMBERED = 100_000;
const TELL_EVERY_MS = 60_000;
/** Of SHA-256 in base64url. */
const MAC_CHARACTERS = 43;

export function createSignatures({ key, clock, log }: SignaturesDeps): Signatures {
  const us = randomBytes(9).toString('base64url');
  const taken = new Set<string>();
  let made = 0;
  let refused = 0;
  let toldAt = Number.NEGATIVE_INFINITY;

  // In JSON a line never ends, so that place and text cannot be shifted into each other.
  const macOf = (place: Place, text: string): string =>
    createHmac('sha256', key)
      .update(`${JSON.stringify(place)}\n${text}`)
      .digest('base64url');

  function isOurs(place: Place, mac: string, text: string): boolean {
    const [given, right] = [Buffer.from(mac), Buffer.from(macOf(place, text))];
    return given.length === right.length && timingSafeEqual(given, right);
  }

  function sign(place: Place, text: string): string {
    return macOf(place, text) + text;
  }

  function verified(place: Place, signed: string): string | null {
    const text = signed.slice(MAC_CHARACTERS);
    return isOurs(place, signed.slice(0, MAC_CHARACTERS), text) ? text : null;
  }

  /** False where it was taken before. */
  function takeOnce(id: string): boolean {
    if (taken.has(id)) return false;
    taken.add(id);
    const [oldest] = taken.size > MOST_REMEMBERED ? taken : [];
    if (oldest !== undefined) taken.delete(oldest);
    return true;
  }

  function fresh(text: string | null): string | null {
    const [, until, id, request] = /^(\d+) (\S+) (.*)$/s.exec(text ?? '') ?? [];
    if (id === undefined || request === undefined) return null;
    return clock.now() <= Number(until) + CLOCKS_APART_MS && takeOnce(id) ? request : null;
  }

  function counted(text: string | null, place: Place): string | null {
    if (text !== null) return text;
    refused++;
    const now = performance.now();
    if (now - toldAt < TELL_EVERY_MS) return null;
    toldAt = now;
    // Not what it says: it is somebody else's.
    log?.warn({ kind: place[0], refused }, 'messages in Redis that are not ours, or not new, are dropped');
    return null;
  }

  return {
    sign,
    read: (place, signed) => counted(verified(place, signed), place),
    signRequest(queue, text, ttlMs) {
      const until = Math.ceil(clock.now() + ttlMs);
      return sign(['queue', queue], `${until} ${us}:${++made} ${text}`);
    },
    readRequest: (queue, signed) => counted(fresh(verified(['queue', queue], signed)), ['queue', queue]),
    refused: () => refused,
  };
}
