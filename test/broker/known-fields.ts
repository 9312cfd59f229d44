// Writes down which fields the replies of each broker have: those of a trial at its stub, which are there always or now and then, and
// those of the replies in replies/, now and then. `npm run known-fields`, after a stub or a reply was added or mended.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { learnFields, type Reply } from '../../src/broker/transcript/fields.ts';
import { readTranscript } from '../../src/broker/transcript/format.ts';
import { BROKERS } from '../../src/domain/brokers.ts';
import { STUBS, type StubName, tryStub } from './trial-desk.ts';

const INTO = new URL('../../src/broker/transcript/known/', import.meta.url);
const WRITTEN = new URL('./replies/', import.meta.url);

interface WrittenReply {
  readonly request?: string;
  readonly status?: number;
  readonly body?: unknown;
  readonly replies?: Readonly<Record<string, WrittenReply>>;
  readonly besides?: Readonly<Record<string, WrittenReply>>;
}

function writtenDown(broker: StubName): Reply[] {
  const folder = new URL(`${broker}/`, WRITTEN);
  const replyOf = (request: string, { status = 200, body }: WrittenReply): Reply[] => {
    const [method = '', path = ''] = request.split(' ');
    const url = broker === 'shioaji' && !path.startsWith('/api/') ? `/api/v1${path}` : path;
    return body === undefined ? [] : [{ method, url, status, text: JSON.stringify(body) }];
  };
  return readdirSync(folder).flatMap((file) => {
    const entry = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as WrittenReply;
    return [
      ...(entry.request === undefined ? [] : replyOf(entry.request, entry)),
      ...Object.entries({ ...entry.replies, ...entry.besides }).flatMap(([request, reply]) =>
        replyOf(request, reply),
      ),
    ];
  });
}

for (const broker of Object.keys(BROKERS).filter((name) => name !== 'paper') as StubName[]) {
  const replies: Reply[] = [];
  for (const stub of Object.values(STUBS).filter((each) => each.broker === broker)) {
    const { text } = await tryStub(stub, {});
    for (const { method, path, status, answer } of readTranscript(text).exchanged)
      if (status !== undefined && answer !== undefined)
        replies.push({ method, url: path, status, text: answer });
  }
  const known = learnFields(replies, writtenDown(broker));
  writeFileSync(new URL(`${broker}.json`, INTO), `${JSON.stringify(known, null, 2)}\n`);
  console.log(`${broker}: ${Object.keys(known).length} calls`);
}
