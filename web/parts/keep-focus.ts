// A button that waits for its answer is disabled, and the browser takes the focus from it: who works by the keyboard would
// begin at the top of the page again. With the answer it is given back, unless they have gone elsewhere meanwhile.

export function keepFocus(): void {
  addEventListener('focusout', ({ target: button }) => {
    if (!(button instanceof HTMLButtonElement && button.disabled)) return;
    const answered = new MutationObserver(() => {
      if (button.disabled) return;
      answered.disconnect();
      if (document.activeElement === document.body) button.focus({ preventScroll: true });
    });
    answered.observe(button, { attributeFilter: ['disabled'] });
  });
}
