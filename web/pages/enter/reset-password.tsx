import { Page } from '../../parts/page.tsx';

export default function ResetPassword() {
  return (
    <Page title="ResetPassword" answer="ResetPassword">
      <p />
    </Page>
  );
}
