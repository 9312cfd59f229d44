import { Dialog } from '../../parts/dialog.tsx';

export default function HaltDialog({
  onClose,
}: {
  readonly accountId: string | null;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="Halt" onClose={onClose}>
      <p />
    </Dialog>
  );
}
