import { useEffect, useState } from 'react';

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size || unit === 'second') return words.format(Math.trunc(seconds / size), unit);
  }
  return '';
}

/** When shows how long ago something was, and to a pointer when exactly, here and in UTC. */
export function When({ at }: { at?: string | undefined }) {
  const [now, tick] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="faint">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={`${date.toLocaleString()} · ${date.toISOString()}`}>
      {relative(date.getTime(), now)}
    </time>
  );
}

/** duration is how long something took, as exactly as a reader needs it. */
export const duration = (ms: number) => (ms >= 10_000 ? `${Math.round(ms / 1000)} s` : ms >= 1000 ? `${+(ms / 1000).toFixed(1)} s` : ms >= 10 ? `${Math.round(ms)} ms` : `${+ms.toFixed(1)} ms`);
