import { useEffect, useRef, useState } from 'react';
import { Failure, stream } from '../api/client';
import { ended, type Frame, framesOf } from '../api/frames';
import type { components } from '../api/schema';

type Attempt = components['schemas']['Attempt'];
type Trial = components['schemas']['Trial'];
type Piece = components['schemas']['Piece'];

/** Run is a call that goes on, or that has ended: what is known of it so far. */
export interface Run {
  key: number;
  binding: string;
  began: number;
  sent?: Pick<Trial, 'sent' | 'command'>;
  head?: Pick<Trial, 'status' | 'request' | 'active'>;
  pieces: Piece[];
  trial?: Trial; // the whole of it, once it has ended by itself
  error?: unknown;
  cancelled?: number; // milliseconds after it began
}

export const over = (r: Run) => r.trial !== undefined || r.error !== undefined || r.cancelled !== undefined;

/** grown is a run with what has happened since. */
function grown(r: Run, events: Frame[]): Run {
  const next = { ...r, pieces: [...r.pieces] };
  for (const event of events) {
    const { name, value } = event;
    if (name === 'sent') next.sent = value as NonNullable<Run['sent']>;
    else if (name === 'head') next.head = value as NonNullable<Run['head']>;
    else if (name === 'piece') next.pieces.push(value as Piece);
    else if (name === 'trial') next.trial = value as Trial;
    else if (name === 'end') next.error = ended(event);
  }
  return next;
}

/** useCall makes a call at a time, which ends with the page. */
export function useCall() {
  const [run, setRun] = useState<Run>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async (a: Attempt) => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    const began = Date.now();
    setRun((r) => ({ key: (r?.key ?? 0) + 1, binding: a.binding, began, pieces: [] }));
    // What comes of a call that was cancelled changes nothing any more.
    const change = (how: (r: Run) => Run) => !mine.signal.aborted && setRun((r) => r && how(r));
    try {
      await framesOf(await stream('/api/v1/try', mine.signal, a), (events) => change((r) => grown(r, events)));
      throw new Failure(0, 'BROKEN', 'The gateway ended the connection.');
    } catch (e) {
      const error = e instanceof Failure && e.code === 'BROKEN' ? new Failure(0, 'CALL_BROKEN', e.message) : e; // the page does not reconnect, as others do
      change((r) => (over(r) ? r : { ...r, error }));
    }
  };
  const cancel = () => {
    stop.current?.abort();
    setRun((r) => r && (over(r) ? r : { ...r, cancelled: Date.now() - r.began }));
  };
  return { run, start, cancel };
}
