// To be without a stop is asked once more.

import { Choices, Dialog } from '../../parts/dialog.tsx';
import { figure } from '../../parts/numbers.ts';

interface RemoveDialogProps {
  readonly what: string;
  readonly at: number | null;
  /** It is wanted, and does not stand. */
  readonly isMissing: boolean;
  readonly hasTargets: boolean;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}

export function RemoveDialog({ what, at, isMissing, hasTargets, onRemove, onClose }: RemoveDialogProps) {
  return (
    <Dialog title="Remove the stop" onClose={onClose}>
      <p>
        The stop of {what}
        {at !== null && ` at ${figure(at)}`}{' '}
        {isMissing ? 'is not tried any more' : 'is taken away at the broker, and is not put back'}. What the
        position can lose is not limited{isMissing ? '' : ' any more'}.{hasTargets && ' Targets stay.'}
      </p>
      <Choices>
        <button type="button" className="button trade" onClick={onRemove}>
          Remove the stop of {what}
        </button>
        <button type="button" className="button" data-first onClick={onClose}>
          Keep it
        </button>
      </Choices>
    </Dialog>
  );
}
