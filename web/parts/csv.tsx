// A list as a file: the same call, asked for as CSV.

import { useMutation } from '@tanstack/react-query';
import { ProblemNote } from './problem-note.tsx';

/** For the options of a call. */
export const AS_CSV = { headers: { accept: 'text/csv' }, parseAs: 'blob' } as const;

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has it only after the click is over.
  setTimeout(() => URL.revokeObjectURL(url));
}

interface CsvButtonProps {
  /** Of the file, without its ending. */
  readonly name: string;
  /** The call, with AS_CSV among its options. */
  readonly ask: () => Promise<{ data?: unknown }>;
}

export function CsvButton({ name, ask }: CsvButtonProps) {
  const fetched = useMutation({
    async mutationFn() {
      const { data } = await ask();
      saveFile(`${name}.csv`, data as Blob);
    },
  });
  return (
    <>
      {fetched.error && <ProblemNote fault={fetched.error} />}
      <button
        type="button"
        className="link"
        aria-label={`${name} as CSV`}
        disabled={fetched.isPending}
        onClick={() => fetched.mutate()}
      >
        CSV
      </button>
    </>
  );
}
