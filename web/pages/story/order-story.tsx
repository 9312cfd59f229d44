import { Page } from '../../parts/page.tsx';

export default function OrderStory() {
  return (
    <Page title="OrderStory" answer="OrderStory">
      <p />
    </Page>
  );
}
