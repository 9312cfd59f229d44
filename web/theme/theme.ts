// Light or dark: the system's wish, unless the user has one here.

const KEY = 'fillpath.theme';
export type Theme = 'system' | 'light' | 'dark';

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Then it lasts as long as the page.
  }
  show(theme);
}

/** Before anything is drawn. */
export const keepTheme = (): void => show(chosenTheme());

function show(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
