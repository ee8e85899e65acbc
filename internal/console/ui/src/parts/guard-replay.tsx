import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type Guard, type GuardChange, type GuardReplay, post } from '../api/client';
import { count, size, whole } from './amount';
import { times } from './range';
import { Clock, Cut } from './record';
import { type At, ReplayForm, useDraft, WrongDraft, wrongDraft } from './replay-form';
import { draftOf, plain } from './rules';
import { Badge, Empty, Loading, Tile, Trouble } from './state';
import { type Column, Table } from './table';

/** kept is the draft that was typed, for as long as the page lives. */
const kept: { text?: string } = {};

const written = (g: Guard) => plain({ name: g.name, use: g.use, on: g.on, action: g.action, mode: g.mode, agents: g.agents, ...g.conditions, ...g.settings });

/** GuardReplayView tries a draft of the guards on what was captured of calls. */
export function GuardReplayView({ guards, of, onAsk }: { guards: Guard[]; of: At; onAsk: (a: At) => void }) {
  const inForce = useMemo(() => draftOf(guards.map(written), 'guards'), [guards]);
  const draft = useDraft(kept, inForce);
  const found = useMutation({
    mutationFn: (text: string) => post<GuardReplay>('/api/v1/guards/replay', { guards: text, ...times(of), ...(of.records && { records: of.records }) }),
  });
  const wrong = wrongDraft(found.error);
  return (
    <>
      <p className="hint">
        The guards of the draft look at captured content of recorded calls, as with <code>a2a-gateway guards replay</code>. The audit log records that you did this. No service is asked.
      </p>
      <ReplayForm id="guard-draft" what="guards" rows={12} draft={draft} of={of} onAsk={onAsk} busy={found.isPending} wrong={wrong} onReplay={() => found.mutate(draft.text)} />
      <div aria-live="polite">
        {found.isPending ? (
          <Loading />
        ) : wrong ? (
          <WrongDraft id="guard-draft" what="guards" of={wrong} onLine={draft.show} />
        ) : found.isError ? (
          <Trouble error={found.error} />
        ) : found.data ? (
          <Answer of={found.data} stale={found.variables !== draft.text} />
        ) : (
          <Empty title="What would change?">Edit the guards, choose a time range, and choose Replay.</Empty>
        )}
      </div>
    </>
  );
}

const tones: Record<string, 'good' | 'warn' | 'bad' | 'calm'> = { passed: 'good', recorded: 'calm', redacted: 'warn', refused: 'bad' };

const columns: Column<GuardChange>[] = [
  {
    id: 'seq',
    title: 'Record',
    width: '84px',
    sort: (c) => c.seq,
    cell: (c) => (
      <Link to="/audit/$seq" params={{ seq: String(c.seq) }} className="strong">
        {c.seq}
      </Link>
    ),
  },
  { id: 'time', title: 'Began', width: '190px', sort: (c) => c.time, cell: (c) => <Clock at={c.time} /> },
  { id: 'was', title: 'Then', width: '100px', sort: (c) => c.was, cell: (c) => <Badge tone={tones[c.was] ?? 'calm'}>{c.was}</Badge> },
  { id: 'now', title: 'With the draft', width: '120px', sort: (c) => c.now, cell: (c) => <Badge tone={tones[c.now] ?? 'calm'}>{c.now}</Badge> },
  { id: 'caller', title: 'Caller', width: 'minmax(100px, 1fr)', sort: (c) => c.caller, cell: (c) => <Cut text={c.caller} /> },
  { id: 'agent', title: 'Agent', width: 'minmax(90px, .8fr)', sort: (c) => c.agent, cell: (c) => <Cut text={c.agent} /> },
  { id: 'found', title: 'Findings', width: 'minmax(160px, 1.6fr)', cell: (c) => <Cut text={c.findings.join(', ') || '–'} /> },
];

function Answer({ of: r, stale }: { of: GuardReplay; stale: boolean }) {
  const looked = r.calls - r.notCaptured - r.gone;
  return (
    <section aria-label="What would change" className="below">
      <h2>{r.changed === 0 ? 'No call is known to have another outcome' : `${r.changed === 1 ? 'One call' : `${whole(r.changed)} calls`} would have another outcome`}</h2>
      <p className="hint">
        {r.calls === 0 ? 'No call was recorded at that time.' : `Of ${count(r.calls, 'call')}, content of ${whole(looked)} was looked at (${size(r.bytes)})${r.more ? '; there are older ones' : ''}.`}{' '}
        {r.partial > 0 && `Of ${count(r.partial, 'call')} only a part was captured: guards may find more in them. `}
        {stale && <strong>The draft has changed since.</strong>}
      </p>
      <div className="tiles">
        <Tile label="Content was not captured" value={r.notCaptured} />
        <Tile label="Erased or expired" value={r.gone} />
        <Tile label="Unchanged" value={r.same} />
        <Tile label="Changed" value={r.changed} tone={r.changed > 0 ? 'warn' : undefined} />
        <Tile label="Unknown" value={r.untold} />
      </div>
      {r.outcomes.length > 0 && (
        <table className="plain" aria-label="Outcomes">
          <thead>
            <tr>
              <th scope="col">Then</th>
              <th scope="col">With the draft</th>
              <th scope="col">Calls</th>
            </tr>
          </thead>
          <tbody>
            {r.outcomes.map((o) => (
              <tr key={`${o.was} ${o.now}`}>
                <td>
                  <Badge tone={tones[o.was] ?? 'calm'}>{o.was}</Badge>
                </td>
                <td>
                  <Badge tone={tones[o.now] ?? 'calm'}>{o.now}</Badge>
                </td>
                <td>{whole(o.calls)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {r.guards.length > 0 && (
        <table className="plain" aria-label="Calls in which guards find something">
          <thead>
            <tr>
              <th scope="col">Guard</th>
              <th scope="col">Calls then</th>
              <th scope="col">Calls with the draft</th>
            </tr>
          </thead>
          <tbody>
            {r.guards.map((g) => (
              <tr key={g.guard}>
                <th scope="row">
                  <code>{g.guard}</code>
                </th>
                <td>{whole(g.was)}</td>
                <td>{whole(g.now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {r.changes.length > 0 && <Table label="Calls that change" rows={r.changes} columns={columns} name={(c) => String(c.seq)} height={420} least={900} />}
      {r.changes.length < r.changed && (
        <p className="hint">
          {r.changes.length} of {r.changed} are shown, the newest.
        </p>
      )}
      {r.why.map((w) => (
        <p key={w.why} className="hint">
          Unknown for {count(w.calls, 'call')}: {w.why}.
        </p>
      ))}
      {r.notes?.map((n) => (
        <p key={n} className="hint">
          Note: {n}.
        </p>
      ))}
    </section>
  );
}
