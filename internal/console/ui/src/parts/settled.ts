import { useEffect, useState } from 'react';

/** useSettled is a value once it has not changed for so many milliseconds, so that nothing is asked with each key. */
export function useSettled<T>(of: T, pause: number): T {
  const [settled, settle] = useState(of);
  useEffect(() => {
    const soon = setTimeout(() => settle(of), pause);
    return () => clearTimeout(soon);
  }, [of, pause]);
  return settled;
}
