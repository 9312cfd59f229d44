// The audit log as a chain: each entry's hash covers the entry and the hash before it, so that no entry can be changed,
// removed or slipped in without breaking every hash behind it. The hash is keyed: who can write to the database but
// does not have the key cannot make a chain of their own.

import { createHmac } from 'node:crypto';

/** An entry as it stands in the database. */
export interface ChainedEntry {
  readonly id: number;
  readonly user_id: string | null;
  readonly action: string;
  readonly success: boolean;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly request_path: string | null;
  readonly request_method: string | null;
  readonly error_message: string | null;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  /** The JSON text. */
  readonly metadata: string;
  readonly created_at: string;
}

export interface ChainHead {
  readonly entries: number;
  readonly hash: string;
}

export const GENESIS: ChainHead = { entries: 0, hash: '0'.repeat(64) };

/** The head after one more entry. */
export function nextHead(key: Buffer, head: ChainHead, entry: ChainedEntry): ChainHead {
  const entries = head.entries + 1;
  const content = JSON.stringify([
    head.hash,
    entries,
    entry.id,
    entry.user_id,
    entry.action,
    entry.success,
    entry.ip_address,
    entry.user_agent,
    entry.request_path,
    entry.request_method,
    entry.error_message,
    entry.resource_type,
    entry.resource_id,
    entry.metadata,
    entry.created_at,
  ]);
  return { entries, hash: createHmac('sha256', key).update(content).digest('hex') };
}

/**
 * Says that the chain was whole up to this head when what lies before it was pruned. Without it, cutting off the
 * beginning would be as easy as deleting rows.
 */
export const checkpointMac = (key: Buffer, { entries, hash }: ChainHead): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['checkpoint', entries, hash]))
    .digest('hex');

/** How a head is printed, to be kept elsewhere: `1234:ab…`. */
export const headText = ({ entries, hash }: ChainHead): string => `${entries}:${hash}`;

export function readHeadText(text: string): ChainHead | null {
  const [, entries, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return entries && hash ? { entries: Number(entries), hash } : null;
}
