/** Of one order that is wanted. Not randomUUID, which a page that came over plain HTTP does not have. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
