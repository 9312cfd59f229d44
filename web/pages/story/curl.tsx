// The same message for a terminal, as a rehearsal. Its secret is not in it, and is not needed there.

import type { Schemas } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import type { SignalRecord } from './headline.ts';
import { curlOf, membersOf } from './message.ts';

/** The token is not shown whole; what is copied has it. */
const shortened = (url: string): string =>
  url.replace(/(\/webhook\/)([^/]{6})[^/]*([^/]{3})(?=\/)/, '$1$2…$3');

export function Curl({
  signal,
  account,
}: {
  readonly signal: SignalRecord;
  readonly account: Schemas['Account'] | undefined;
}) {
  const members = signal.message === null ? null : membersOf(signal.message);
  if (!members || !account || signal.understood === null) return null;
  const command = curlOf(account.webhook_url, members, signal.ignored);
  return (
    <Section
      title="The same as a curl command, simulated"
      more={<CopyButton text={command}>Copy</CopyButton>}
    >
      <pre className="ink">
        <code>{curlOf(shortened(account.webhook_url), members, signal.ignored)}</code>
      </pre>
    </Section>
  );
}
