import { Page } from '../../parts/page.tsx';

export default function Security() {
  return (
    <Page title="Security" answer="Security">
      <p />
    </Page>
  );
}
