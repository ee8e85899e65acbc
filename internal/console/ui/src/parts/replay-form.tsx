import { type RefObject, useRef, useState } from 'react';
import { Failure } from '../api/client';
import { showLine } from './draft';
import { type Range, RangeFields } from './range';

/** At is when recorded calls were made, and how many of them are meant. */
export interface At extends Range {
  records?: number;
}

/** DraftText is a draft while it is written. */
export interface DraftText {
  text: string;
  type: (text: string) => void;
  inForce: string;
  box: RefObject<HTMLTextAreaElement | null>;
  show: (line: number) => void;
}

/** useDraft begins a draft with what is in force. kept is what was typed, for as long as the page lives: it is too long for an address. */
export function useDraft(kept: { text?: string }, inForce: string): DraftText {
  const [text, setText] = useState(kept.text ?? inForce);
  const box = useRef<HTMLTextAreaElement>(null);
  const type = (t: string) => {
    setText(t);
    if (t === inForce) delete kept.text;
    else kept.text = t;
  };
  return { text, type, inForce, box, show: (line) => showLine(box.current, text, line) };
}

/** wrongDraft is the error of a replay whose draft could not be put in force. */
export const wrongDraft = (error: unknown) => (error instanceof Failure && error.code === 'INVALID_DRAFT' ? error : undefined);

/** ReplayForm is a draft of what ("rules"), and which recorded calls it is tried on. */
export function ReplayForm({ id, what, rows, draft, of, onAsk, busy, wrong, onReplay }: { id: string; what: 'rules' | 'guards'; rows: number; draft: DraftText; of: At; onAsk: (a: At) => void; busy: boolean; wrong: Failure | undefined; onReplay: () => void }) {
  const { text, type, inForce, box } = draft;
  return (
    <form
      aria-label="Draft"
      onSubmit={(e) => {
        e.preventDefault();
        onReplay();
      }}
    >
      <label htmlFor={id} className="label">
        {what === 'rules' ? 'Rules' : 'Guards'}, as the configuration has them
      </label>
      <textarea id={id} ref={box} rows={rows} value={text} spellCheck={false} onChange={(e) => type(e.target.value)} {...(wrong && { 'aria-invalid': true, 'aria-describedby': `${id}-wrong` })} />
      <div className="bar">
        <RangeFields of={of} onAsk={({ since, until, last }) => onAsk({ ...(last && { last }), ...(since && { since }), ...(until && { until }), ...(of.records && { records: of.records }) })} />
        <label>
          At most{' '}
          <input
            type="number"
            className="number"
            min={1}
            placeholder="all"
            value={of.records ?? ''}
            onChange={(e) => {
              const { records: _, ...rest } = of;
              onAsk(Number(e.target.value) > 0 ? { ...rest, records: Number(e.target.value) } : rest);
            }}
          />{' '}
          of the newest calls
        </label>
        <button type="submit" className="primary" disabled={busy}>
          {busy ? 'Replaying…' : 'Replay'}
        </button>
        <button type="button" disabled={text === inForce} onClick={() => type(inForce)}>
          Back to the {what} in force
        </button>
      </div>
    </form>
  );
}

/** WrongDraft says why a draft could not be put in force. */
export function WrongDraft({ id, what, of, onLine }: { id: string; what: 'rules' | 'guards'; of: Failure; onLine: (line: number) => void }) {
  return (
    <div className="trouble" role="alert" id={`${id}-wrong`}>
      <div>
        <strong>These {what} could not be put in force.</strong>
        <pre className="said">{of.message}</pre>
      </div>
      {of.line !== undefined && (
        <button type="button" onClick={() => onLine(of.line ?? 1)}>
          Go to line {of.line}
        </button>
      )}
    </div>
  );
}
