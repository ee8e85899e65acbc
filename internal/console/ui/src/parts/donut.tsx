interface Part {
  name: string;
  value: number;
  tone: 'good' | 'warn' | 'bad';
}

const around = 2 * Math.PI * 20;

/** Donut shows shares; the words beside it say the same. */
export function Donut({ label, parts }: { label: string; parts: Part[] }) {
  const all = parts.reduce((n, p) => n + p.value, 0);
  let done = 0;
  return (
    <div className="tile donut">
      <svg viewBox="0 0 52 52" width="58" height="58" aria-hidden>
        <circle cx="26" cy="26" r="20" className="ring" />
        {parts.map((p) => {
          const length = all === 0 ? 0 : (p.value / all) * around;
          const at = done;
          done += length;
          return length > 0 && <circle key={p.name} cx="26" cy="26" r="20" className={`ring ${p.tone}`} strokeDasharray={`${length} ${around}`} strokeDashoffset={-at} />;
        })}
        <text x="26" y="31" textAnchor="middle">
          {all}
        </text>
      </svg>
      <div>
        <span>{label}</span>
        <ul>
          {parts.map((p) => (
            <li key={p.name} className={`dot ${p.tone}`}>
              {p.value} {p.name}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
