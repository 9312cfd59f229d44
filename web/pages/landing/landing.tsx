import { Page } from '../../parts/page.tsx';

export default function Landing() {
  return (
    <Page title="Landing" answer="Landing">
      <p />
    </Page>
  );
}
