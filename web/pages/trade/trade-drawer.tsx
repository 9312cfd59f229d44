import { Drawer } from '../../parts/dialog.tsx';
import type { TradeDraft } from '../../parts/over.tsx';

export default function TradeDrawer({
  onClose,
}: {
  readonly draft: TradeDraft;
  readonly onClose: () => void;
}) {
  return (
    <Drawer title="Trade" onClose={onClose}>
      <p />
    </Drawer>
  );
}
