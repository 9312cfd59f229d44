// Around what lies over the page: a fault of it, or a piece of it that cannot be loaded (after a deployment, say), takes
// neither the page nor the kill switch along.

import { Component, type ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './problem-note.tsx';

interface OverFaultProps {
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export class OverFault extends Component<OverFaultProps, { readonly fault: unknown }> {
  override state = { fault: null };

  static getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override render() {
    if (this.state.fault === null) return this.props.children;
    return (
      <Dialog title="This could not be shown" onClose={this.props.onClose}>
        <ProblemNote fault={this.state.fault}>
          <button type="button" className="link" data-first onClick={() => location.reload()}>
            Reload the page
          </button>
        </ProblemNote>
      </Dialog>
    );
  }
}
