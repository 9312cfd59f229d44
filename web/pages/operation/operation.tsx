import { Page } from '../../parts/page.tsx';

export default function Operation() {
  return (
    <Page title="Operation" answer="Operation">
      <p />
    </Page>
  );
}
