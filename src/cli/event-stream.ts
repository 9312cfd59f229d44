// Server-sent events, as the HTML standard has them read, out of an answer's bytes.

export interface StreamEvent {
  readonly name: string;
  /** null: it had none. */
  readonly id: string | null;
  readonly data: string;
}

/** `heard` is called for whatever comes, a comment too. */
export async function* eventsIn(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  heard: () => void = () => {},
): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    heard();
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventIn(block);
      if (event) yield event;
    }
  }
}

/** null: comments alone. An id without data is no event to a page, and remembered all the same. */
function eventIn(block: string): StreamEvent | null {
  const fields = block.split(/\r?\n/).flatMap((line) => {
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, value }];
  });
  if (fields.length === 0) return null;
  const last = (wanted: string) => fields.findLast(({ name }) => name === wanted)?.value;
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value);
  const name = data.length === 0 ? 'place' : (last('event') ?? 'message');
  return { name, id: last('id') ?? null, data: data.join('\n') };
}
