import { Page } from '../../parts/page.tsx';

export default function Signals() {
  return (
    <Page title="Signals" answer="Signals">
      <p />
    </Page>
  );
}
