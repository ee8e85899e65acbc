export type Theme = 'light' | 'dark' | '';

const key = 'a2a-gateway-theme';

/** chosen is what somebody chose; '' for what their system says. */
export function chosen(): Theme {
  const kept = localStorage.getItem(key);
  return kept === 'light' || kept === 'dark' ? kept : '';
}

export function dress(theme: Theme = chosen()): void {
  if (theme) {
    localStorage.setItem(key, theme);
    document.documentElement.dataset.theme = theme;
  } else {
    localStorage.removeItem(key);
    delete document.documentElement.dataset.theme;
  }
}
