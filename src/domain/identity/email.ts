// Email addresses as accounts are known by: trimmed, in lower case, ASCII, so that no two spellings are two users.

export const normalEmail = (text: string): string => text.trim().toLowerCase();

const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Of a normal one. */
export function isEmail(email: string): boolean {
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  return (
    at > 0 && email.length <= 254 && local.length <= 64 && LOCAL.test(local) && HOST.test(email.slice(at + 1))
  );
}
