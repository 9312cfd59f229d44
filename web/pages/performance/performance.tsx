import { Page } from '../../parts/page.tsx';

export default function Performance() {
  return (
    <Page title="Performance" answer="Performance">
      <p />
    </Page>
  );
}
