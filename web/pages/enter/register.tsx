import { Page } from '../../parts/page.tsx';

export default function Register() {
  return (
    <Page title="Register" answer="Register">
      <p />
    </Page>
  );
}
