import { Page } from '../../parts/page.tsx';

export default function Check() {
  return (
    <Page title="Check" answer="Check">
      <p />
    </Page>
  );
}
