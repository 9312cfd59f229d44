// What a destination is told of, while it is being chosen. Each change replaces the whole choice: the next one is made of what
// was chosen last, and not of what the service said before it.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read } from '../../api/client.ts';
import { useReadAgain } from '../../parts/read-again.ts';
import type { Choice } from './choices.tsx';
import { destinations } from './questions.ts';
import type { Destination } from './words.ts';

export function useChoice({ id, events, trading_account_ids, summary_hour }: Destination) {
  const readAgain = useReadAgain();
  const [wanted, setWanted] = useState<Choice | null>(null);
  const save = useMutation({
    // One after the other: the last one stands.
    scope: { id: `notifications ${id}` },
    mutationFn: ({ events, accountIds, summaryHour }: Choice) =>
      read(
        api.PATCH('/settings/notifications/{id}', {
          params: { path: { id } },
          body: {
            events: [...events],
            trading_account_ids: accountIds === null ? null : [...accountIds],
            summary_hour: summaryHour,
          },
        }),
      ),
    // Not waited for: the next change goes out at once.
    onSettled(_saved, _fault, sent) {
      void readAgain(destinations.queryKey, ['overview']).then(() =>
        // Saved or refused, it is as the service says, unless something else was chosen since.
        setWanted((now) => (now === sent ? null : now)),
      );
    },
  });
  return {
    choice: wanted ?? { events, accountIds: trading_account_ids, summaryHour: summary_hour },
    choose(choice: Choice) {
      setWanted(choice);
      save.mutate(choice);
    },
    fault: save.error,
  };
}
