import { useQueryClient } from '@tanstack/react-query';
import { Pause, Play, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Failure, type OpenStream } from '../api/client';
import { frames } from '../api/live';
import { count, size } from './amount';
import { Clock, Cut, milliseconds } from './record';
import { Said } from './said';
import { Badge, Empty, Trouble } from './state';

/** Seen is an event of a stream as the gateway shows it to who watches. */
interface Seen {
  time: string;
  kind: string;
  state?: string;
  id?: string;
  bytes: number;
  content?: string;
  cut?: boolean;
  fault?: string;
}

type Row = { key: number; since?: number } & ({ event: Seen } | { dropped: number });

interface Watched {
  rows: Row[]; // the newest last
  count: number;
  state: 'connecting' | 'live' | 'ended' | 'broken';
  content: boolean;
  why?: string;
  end?: string;
  error?: Failure;
}

const most = 500; // rows
const begin: Watched = { rows: [], count: 0, state: 'connecting', content: false };

/** add has more rows, with the time between events. */
function add(w: Watched, heard: { name: string; value: unknown }[]): Watched {
  const next = { ...w, rows: [...w.rows] };
  for (const { name, value } of heard) {
    if (name === 'open') {
      const { content, why } = value as { content: boolean; why?: string };
      Object.assign(next, { state: 'live', content, why });
    } else if (name === 'gap') next.rows.push({ key: ++next.count, dropped: (value as { dropped: number }).dropped });
    else if (name === 'event') {
      const event = value as Seen;
      const before = next.rows.findLast((r) => 'event' in r);
      const since = before && 'event' in before ? Date.parse(event.time) - Date.parse(before.event.time) : undefined;
      next.rows.push({ key: ++next.count, event, ...(since !== undefined && { since }) });
    }
  }
  next.rows.splice(0, Math.max(0, next.rows.length - most));
  return next;
}

/** Watch follows a stream that is open, event by event. It connects once, as each time is put on record. */
export function Watch({ of: stream, onClose }: { of: OpenStream; onClose: () => void }) {
  const [now, set] = useState<Watched>(begin);
  const [held, hold] = useState<Watched | null>(null); // what is shown while it is paused
  const [turn, again] = useState(0);
  const queries = useQueryClient();
  useEffect(() => {
    const stop = new AbortController();
    set(begin);
    hold(null);
    // A timer, so that an effect which is undone at once asks for nothing.
    const timer = setTimeout(() => {
      frames(`/api/v1/streams/${encodeURIComponent(stream.id)}/events`, (batch) => set((w) => add(w, batch)), stop.signal).catch((e: unknown) => {
        if (stop.signal.aborted) return;
        const error = e instanceof Failure ? e : new Failure(0, 'PAGE', String(e));
        if (error.status === 401) queries.setQueryData(['me'], null);
        set((w) => (error.code === 'STREAM_ENDED' ? { ...w, state: 'ended', end: error.message } : { ...w, state: 'broken', error }));
      });
    });
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [stream.id, turn, queries]);
  const shown = held ?? now;
  const more = held ? now.count - held.count : 0;
  const status = { connecting: 'connecting', live: held ? `paused, ${more} more since` : 'live', ended: `ended: ${now.end}`, broken: 'not connected' }[now.state];
  return (
    <section aria-label="Watched stream" className="watched">
      <div className="head">
        <h2>
          Stream of {stream.caller} at {stream.agent}
        </h2>
        <span className={`dot ${now.state === 'live' ? (held ? 'warn' : 'good') : now.state === 'broken' ? 'bad' : 'warn'}`} role="status">
          {status}
        </span>
        <span className="count">{count(shown.count, 'row')}</span>
        <div className="actions">
          {now.state === 'broken' && (
            <button type="button" onClick={() => again(turn + 1)}>
              Watch again
            </button>
          )}
          <button type="button" aria-pressed={held !== null} onClick={() => hold(held ? null : now)}>
            {held ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />} {held ? 'Resume' : 'Pause'}
          </button>
          <button type="button" onClick={onClose}>
            <X size={14} aria-hidden /> Stop watching
          </button>
        </div>
      </div>
      {now.why && <p className="hint">{now.why}</p>}
      {now.error && <Trouble error={now.error} />}
      {shown.rows.length === 0 && now.state === 'live' && <Empty title="No event since you watch">Events appear here as the client is given them. What it had before is not shown.</Empty>}
      {shown.rows.length > 0 && (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">After</th>
              <th scope="col">Kind</th>
              <th scope="col">State</th>
              <th scope="col">Size</th>
              <th scope="col">Event id</th>
            </tr>
          </thead>
          {[...shown.rows].reverse().map((r) => (
            <tbody key={r.key}>{'event' in r ? <EventRow of={r.event} since={r.since} /> : <GapRow dropped={r.dropped} />}</tbody>
          ))}
        </table>
      )}
    </section>
  );
}

function GapRow({ dropped }: { dropped: number }) {
  return (
    <tr>
      <td colSpan={6} className="faint">
        {count(dropped, 'event')} left out here: more came than this page accepts
      </td>
    </tr>
  );
}

function EventRow({ of: e, since }: { of: Seen; since?: number | undefined }) {
  return (
    <>
      <tr>
        <td>
          <Clock at={e.time} />
        </td>
        <td>{since === undefined ? '' : `+${milliseconds(since)}`}</td>
        <td>
          <Badge tone={e.kind === 'error' ? 'bad' : 'calm'}>{e.kind}</Badge>
        </td>
        <td>{e.state}</td>
        <td>{size(e.bytes)}</td>
        <td>
          <Cut text={e.id ?? ''} code />
        </td>
      </tr>
      {(e.content || e.fault) && (
        <tr>
          <td colSpan={6}>
            <details>
              <summary>Content</summary>
              <Said text={e.content ?? ''} {...(e.cut && { cut: true })} {...(e.fault && { fault: e.fault })} label="Content of the event" />
            </details>
          </td>
        </tr>
      )}
    </>
  );
}
