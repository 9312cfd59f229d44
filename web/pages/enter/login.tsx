import { Page } from '../../parts/page.tsx';

export default function Login() {
  return (
    <Page title="Login" answer="Login">
      <p />
    </Page>
  );
}
