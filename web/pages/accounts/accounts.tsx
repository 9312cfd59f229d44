import { Page } from '../../parts/page.tsx';

export default function Accounts() {
  return (
    <Page title="Accounts" answer="Accounts">
      <p />
    </Page>
  );
}
