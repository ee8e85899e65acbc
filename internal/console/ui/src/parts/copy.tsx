import { Check, Copy as CopyIcon } from 'lucide-react';
import { useState } from 'react';

export function Copy({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    });
  };
  return (
    <button type="button" className="icon" onClick={copy} aria-label={done ? `${label}: copied` : `Copy ${label}`} title={`Copy ${label}`}>
      {done ? <Check size={13} aria-hidden /> : <CopyIcon size={13} aria-hidden />}
    </button>
  );
}

/** Digest shows the beginning of one. */
export function Digest({ of }: { of?: string | undefined }) {
  if (!of) return <span className="faint">–</span>;
  return (
    <span className="digest">
      <code title={of}>{of.replace(/^sha256:/, '').slice(0, 12)}</code>
      <Copy text={of} label="digest" />
    </span>
  );
}
