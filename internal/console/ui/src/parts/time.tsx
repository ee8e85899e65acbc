import { useEffect, useState } from 'react';

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** relative is how far a time is from now, rounded in the largest unit that it has one of. */
function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size || unit === 'second') return words.format(Math.round(seconds / size), unit);
  }
  return '';
}

const full = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' });

/** local is a time where the browser is, with its time zone. */
export const local = (date: Date) => full.format(date);

/** exact is that, and the same in UTC as records have it. */
export const exact = (date: Date) => `${local(date)} · ${date.toISOString()}`;

/** When shows how long ago something was, and in its title when exactly. */
export function When({ at }: { at?: string | undefined }) {
  const [now, tick] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="faint">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact(date)}>
      {relative(date.getTime(), now)}
    </time>
  );
}

/** duration is how long something took, as exactly as a reader needs it. */
export const duration = (ms: number) => (ms >= 10_000 ? `${Math.round(ms / 1000)} s` : ms >= 1000 ? `${+(ms / 1000).toFixed(1)} s` : ms >= 10 ? `${Math.round(ms)} ms` : `${+ms.toFixed(1)} ms`);
