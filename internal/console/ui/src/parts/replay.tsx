import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Checked, post, type Redecided, type Replayed } from '../api/client';
import { Checks, Export, Whom } from './draft';
import { times } from './range';
import { Clock, Cut } from './record';
import { type At, ReplayForm, useDraft, WrongDraft, wrongDraft } from './replay-form';
import { draftOf, rulesInForce } from './rules';
import { Badge, Empty, Loading, Tile, Trouble } from './state';
import { type Column, Table } from './table';

/** kept is the draft that was typed, for as long as the page lives. */
const kept: { text?: string } = {};

/** Replay tries a draft of the rules on calls that were made. */
export function Replay({ of, rule, onAsk }: { of: At; rule?: string | undefined; onAsk: (a: At) => void }) {
  const rules = useQuery({ queryKey: ['rules'], queryFn: rulesInForce });
  const inForce = useMemo(() => rules.data && draftOf(rules.data.rules), [rules.data]);
  if (inForce === undefined) return rules.isError ? <Trouble error={rules.error} again={() => void rules.refetch()} /> : <Loading />;
  return <Draft of={of} rule={rule} onAsk={onAsk} inForce={inForce} />;
}

function Draft({ of, rule, onAsk, inForce }: { of: At; rule?: string | undefined; onAsk: (a: At) => void; inForce: string }) {
  const draft = useDraft(kept, inForce);
  const { text, show } = draft;
  const [asked, setAsked] = useState<{ rules: string; at: At; time: number }>();
  const found = useQuery({
    queryKey: ['replay', asked],
    queryFn: () => post<Replayed>('/api/v1/policy/replay', { rules: asked?.rules ?? '', ...times(asked?.at ?? {}), ...(asked?.at.records && { records: asked.at.records }) }),
    enabled: asked !== undefined,
    retry: false,
    refetchInterval: false,
    refetchOnWindowFocus: false,
    staleTime: Infinity,
  });
  const wrong = wrongDraft(found.error);
  // Whoever comes from a refused call finds its rule under the cursor.
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current || !rule) return;
    begun.current = true;
    const at = text.split('\n').findIndex((l) => l === `  - name: ${rule}` || l === `  - name: ${JSON.stringify(rule)}`);
    if (at >= 0) show(at + 1);
  });
  return (
    <>
      <p className="hint">
        Replay evaluates recorded calls against the draft instead of the rules in force, as <code>a2a-gateway policy test --replay</code> does. It changes nothing.
      </p>
      <ReplayForm id="draft" what="rules" rows={16} draft={draft} of={of} onAsk={onAsk} busy={found.isFetching} wrong={wrong} onReplay={() => setAsked({ rules: text, at: of, time: Date.now() })} />
      <Checks
        of={text}
        what="these rules"
        check={(rules) => post<Checked>('/api/v1/policy/check', { rules })}
        valid={({ rules }) => `: ${rules === 1 ? 'one rule' : `${rules} rules`}`}
        onLine={show}
      />
      <Export before={inForce} after={text} names={['rules in force', 'draft']} file="rules.diff">
        The rules in force are written as in the draft above, without the comments of their files. Nothing is written here: change the files, and have them reloaded.
      </Export>
      <div aria-live="polite">
        {!asked ? (
          <Empty title="What would change?">Edit the rules, choose a time range, and choose Replay.</Empty>
        ) : found.isPending ? (
          <Loading />
        ) : wrong ? (
          <WrongDraft id="draft" what="rules" of={wrong} onLine={show} />
        ) : found.isError ? (
          <Trouble error={found.error} again={() => void found.refetch()} />
        ) : (
          <Answer of={found.data} stale={asked.rules !== text} />
        )}
      </div>
    </>
  );
}

const changes: Record<string, { label: string; tone: 'good' | 'warn' | 'bad' | 'calm' }> = {
  'deny allow': { label: 'newly allowed', tone: 'warn' },
  'allow deny': { label: 'newly denied', tone: 'bad' },
};
const change = (c: Redecided) => changes[`${c.was} ${c.now}`] ?? { label: 'by another rule', tone: 'calm' as const };

const columns: Column<Redecided>[] = [
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
  { id: 'time', title: 'Began', width: '108px', sort: (c) => c.time, cell: (c) => <Clock at={c.time} /> },
  { id: 'change', title: 'Change', width: '130px', sort: (c) => change(c).label, cell: (c) => <Badge tone={change(c).tone}>{change(c).label}</Badge> },
  { id: 'caller', title: 'Caller', width: 'minmax(100px, 1fr)', sort: (c) => c.caller, cell: (c) => <Cut text={c.caller} /> },
  { id: 'agent', title: 'Agent', width: 'minmax(90px, .8fr)', sort: (c) => c.agent, cell: (c) => <Cut text={c.agent} /> },
  { id: 'method', title: 'Method', width: 'minmax(120px, .8fr)', sort: (c) => c.method, cell: (c) => <Cut text={c.method} /> },
  { id: 'was', title: 'Before', width: 'minmax(130px, 1fr)', sort: (c) => c.from, cell: (c) => <Cut text={`${c.was} by ${c.from || 'what comes before rules'}`} /> },
  { id: 'now', title: 'With the draft', width: 'minmax(130px, 1fr)', sort: (c) => c.to, cell: (c) => <Cut text={`${c.now} by ${c.to}`} /> },
];

// Days are wider than times of today.
const wide = columns.map((c) => (c.id === 'time' ? { ...c, width: '190px' } : c));

/** Answer says which calls a draft decides otherwise, and whose. */
export function Answer({ of: r, stale }: { of: Replayed; stale: boolean }) {
  const changed = r.denyToAllow + r.allowToDeny + r.otherRule;
  const today = new Date().toDateString();
  const dated = r.changes.some((c) => new Date(c.time).toDateString() !== today);
  const none = r.untold > 0 ? 'No call is known to be decided differently' : 'No call would be decided differently';
  return (
    <section aria-label="What would change" className="below">
      <h2>{changed === 0 ? none : `${changed === 1 ? 'One call' : `${changed.toLocaleString('en')} calls`} would be decided differently`}</h2>
      <p className="hint">
        {r.calls === 0 || !r.oldest || !r.newest ? (
          'No call was recorded at that time.'
        ) : (
          <>
            Of {r.calls === 1 ? 'one call' : `${r.calls.toLocaleString('en')} calls`}, begun from <Clock at={r.oldest} /> to <Clock at={r.newest} />
            {r.more && '; there are older ones'}.
          </>
        )}{' '}
        {stale && <strong>The draft has changed since.</strong>}
      </p>
      <div className="tiles">
        <Tile label="Unchanged" value={r.same} />
        <Tile label="Newly allowed" value={r.denyToAllow} tone={r.denyToAllow > 0 ? 'warn' : undefined} />
        <Tile label="Newly denied" value={r.allowToDeny} tone={r.allowToDeny > 0 ? 'bad' : undefined} />
        <Tile label="By another rule" value={r.otherRule} />
        <Tile label="Unknown" value={r.untold} />
      </div>
      <Whom of={r} />
      {r.changes.length > 0 && <Table label="Calls that change" rows={r.changes} columns={dated ? wide : columns} name={(c) => String(c.seq)} height={420} />}
      {r.changes.length < changed && (
        <p className="hint">
          {r.changes.length} of {changed} are shown, the newest of each kind.
        </p>
      )}
      {r.why.length > 0 && <Untold of={r.why} />}
    </section>
  );
}

const most = 50; // reasons that are shown

function Untold({ of }: { of: Replayed['why'] }) {
  return (
    <div className="below">
      <h2>Unknown</h2>
      <p className="hint">Audit records hold no claims, no messages and no task owners. Where these could change the decision, it is unknown.</p>
      <table className="plain" aria-label="Reasons">
        <thead>
          <tr>
            <th scope="col">Calls</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {of.slice(0, most).map((w) => (
            <tr key={w.why}>
              <td>{w.calls}</td>
              <td>{w.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {of.length > most && <p className="hint">{of.length - most} further reasons.</p>}
    </div>
  );
}
