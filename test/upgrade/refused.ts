// How many messages a process could not make sense of: none, where versions understand each other.

import assert from 'node:assert/strict';
import type { Cluster, Member } from '../cluster/desk.ts';

export async function messagesRefused(cluster: Cluster, member: Member): Promise<number> {
  const { body } = await cluster.call<string>(member, 'GET', '/metrics');
  const figure = /^fillpath_messages_refused_total(?:\{[^}]*\})? (\d+)$/m.exec(body)?.[1];
  assert.ok(figure !== undefined, body);
  return Number(figure);
}
