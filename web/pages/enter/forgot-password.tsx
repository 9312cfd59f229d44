import { Page } from '../../parts/page.tsx';

export default function ForgotPassword() {
  return (
    <Page title="ForgotPassword" answer="ForgotPassword">
      <p />
    </Page>
  );
}
