import { Page } from '../../parts/page.tsx';

export default function Positions() {
  return (
    <Page title="Positions" answer="Positions">
      <p />
    </Page>
  );
}
