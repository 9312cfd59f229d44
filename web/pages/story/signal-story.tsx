import { Page } from '../../parts/page.tsx';

export default function SignalStory() {
  return (
    <Page title="SignalStory" answer="SignalStory">
      <p />
    </Page>
  );
}
