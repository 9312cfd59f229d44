// What lies over the page. A dialog takes everything; a drawer lies under the masthead, so that the kill switch stays in
// reach. Both close by escape, and give the focus back to where it was. They are the browser's own <dialog>, as menus are its
// popovers: no library is needed for that.

import { type ReactNode, useEffect, useId, useRef } from 'react';
import styles from './dialog.module.css';

interface OverProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  /** On the button that leaves it, where "Close" could be taken for something else. */
  readonly leave?: string;
  readonly children: ReactNode;
}

/** The browser keeps the focus inside. Put `autoFocus` on the safest choice. */
export function Dialog({ title, onClose, leave = 'Close', children }: OverProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement as HTMLElement | null;
    // autoFocus of React happens before the dialog is shown, and so would be lost.
    shown?.showModal();
    shown?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      shown?.close();
      // It has left the page by now, and the browser gives the focus back to nobody.
      before?.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: escape closes it, by the browser
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className={styles.inside}>
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" className="link quiet" onClick={onClose}>
            {leave} <kbd>esc</kbd>
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

export function Drawer({ title, onClose, leave = 'Close', children }: OverProps) {
  const drawer = useRef<HTMLElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    (drawer.current?.querySelector<HTMLElement>('[data-first]') ?? drawer.current)?.focus();
    return () => before?.focus();
  }, []);
  useEffect(() => {
    // From anywhere on the page, whose masthead is in use as well; a dialog over it closes first, and by itself.
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('dialog[open]')) onClose();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [onClose]);
  return (
    <>
      <div className={styles.veil} onClick={onClose} aria-hidden="true" />
      <aside ref={drawer} className={styles.drawer} aria-labelledby={heading} tabIndex={-1}>
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" className="link quiet" onClick={onClose}>
            {leave} <kbd>esc</kbd>
          </button>
        </header>
        {children}
      </aside>
    </>
  );
}

/** What can be done about it, at the end of a dialog. */
export const Choices = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.choices}>{children}</div>
);
