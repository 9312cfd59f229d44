// What was left is looked after again once its owner says so: what stands at the broker counts, what is missing is placed.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, read } from '../../api/client.ts';

interface ResumeProps {
  readonly id: string;
  /** Null: there is none any more. */
  readonly onFault: (fault: unknown) => void;
}

export function Resume({ id, onFault }: ResumeProps) {
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => read(api.POST('/trading/protections/{id}/resume', { params: { path: { id } } })),
    onSettled: () =>
      Promise.all(
        ['overview', 'positions', 'protections'].map((noun) =>
          queries.invalidateQueries({ queryKey: [noun] }),
        ),
      ),
  });
  const { error } = resume;
  useEffect(() => onFault(error), [error, onFault]);
  return (
    <button
      type="button"
      className="button primary"
      disabled={resume.isPending || resume.isSuccess}
      onClick={() => resume.mutate()}
    >
      <span aria-live="polite">
        {resume.isPending || resume.isSuccess ? 'Looking at the broker…' : 'Watch and keep it again'}
      </span>
    </button>
  );
}
