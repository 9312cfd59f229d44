import { Page } from '../../parts/page.tsx';

export default function Terms() {
  return (
    <Page title="Terms" answer="Terms">
      <p />
    </Page>
  );
}
