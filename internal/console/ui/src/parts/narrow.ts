import { useSyncExternalStore } from 'react';

const phone = matchMedia('(max-width: 600px)'); // as in style.css

function listen(changed: () => void) {
  phone.addEventListener('change', changed);
  return () => phone.removeEventListener('change', changed);
}

/** useNarrow reports whether the window is a phone's, where a table becomes a list. */
export const useNarrow = () => useSyncExternalStore(listen, () => phone.matches);
