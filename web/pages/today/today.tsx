import { Page } from '../../parts/page.tsx';

export default function Today() {
  return (
    <Page title="Today" answer="Today">
      <p />
    </Page>
  );
}
