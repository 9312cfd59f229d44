// What a password must be. No classes of characters: length and not being guessed first are what counts.

import { type Denial, deny } from '../denial.ts';
import { COMMON_PASSWORDS } from './common-passwords.ts';

const LEAST = 8;
export const LONGEST_PASSWORD = 256;

/** Null: it will do. */
export function weakness(password: string, email: string): Denial | null {
  const characters = [...password].length;
  if (characters < LEAST || characters > LONGEST_PASSWORD)
    return weak(`Choose a password of ${LEAST} to ${LONGEST_PASSWORD} characters.`);
  const lower = password.toLowerCase();
  if (COMMON_PASSWORDS.has(lower))
    return weak('This password is among the most common ones. Choose another.');
  if (lower.trim() === email) return weak('The password must not be the email address.');
  return null;
}

const weak = (detail: string): Denial => deny('password_weak', { detail });
