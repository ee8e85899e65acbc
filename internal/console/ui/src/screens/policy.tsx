import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useMemo } from 'react';
import { get, type Hits } from '../api/client';
import { counted } from '../parts/amount';
import { Copy } from '../parts/copy';
import { type Asked, askedOf, Explain } from '../parts/explain';
import { ranged } from '../parts/range';
import { Replay } from '../parts/replay';
import type { At } from '../parts/replay-form';
import { type Rule, RuleCount, rulesInForce, summary } from '../parts/rules';
import { Badge, Empty, Loading, Tile, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';
import { Limits } from './limits';
import './policy.css';

const route = getRouteApi('/policy');

const views = { rules: 'Rules', limits: 'Limits', explain: 'Explain a call', replay: 'Replay' } as const;
type View = keyof typeof views;

export interface PolicySearch extends Asked, At {
  view?: View;
  q?: string;
  show?: string;
  rule?: string;
}

const word = (v: unknown) => (typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '');

export function policySearch(s: Record<string, unknown>): PolicySearch {
  const view = word(s.view);
  return {
    ...(view in views && view !== 'rules' && { view: view as View }),
    ...(word(s.q) && { q: word(s.q) }),
    ...(word(s.show) && { show: word(s.show) }),
    ...(word(s.rule) && { rule: word(s.rule) }),
    ...askedOf(s),
    ...ranged(s),
    ...(Number(s.records) > 0 && { records: Math.floor(Number(s.records)) }),
  };
}

export function Policy() {
  const { view = 'rules' } = route.useSearch();
  const go = route.useNavigate();
  return (
    <>
      <h1>Policy</h1>
      <div className="bar">
        <div className="tabs" role="group" aria-label="What to look at">
          {Object.entries(views).map(([k, label]) => (
            <button key={k} type="button" aria-pressed={view === k} onClick={() => void go({ search: k === 'rules' ? {} : { view: k as View } })}>
              {label}
            </button>
          ))}
        </div>
      </div>
      {view === 'rules' ? <Rules /> : view === 'limits' ? <Limits /> : view === 'replay' ? <ReplayView /> : <ExplainView />}
    </>
  );
}

function ExplainView() {
  const search = route.useSearch();
  const go = route.useNavigate();
  return <Explain of={askedOf({ ...search })} onAsk={(a) => void go({ search: { view: 'explain', ...a } })} />;
}

function ReplayView() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const at = { ...ranged({ ...search }), ...(search.records && { records: search.records }) };
  return <Replay of={at} rule={search.rule} onAsk={(a) => void go({ search: { view: 'replay', ...a, ...(search.rule && { rule: search.rule }) }, replace: true })} />;
}

interface Row extends Rule {
  hit?: Hits['rules'][number] | undefined;
}

const kinds: Record<string, { label: string; is: (r: Row) => boolean }> = {
  shadow: { label: 'In shadow', is: (r) => r.mode === 'shadow' },
  never: { label: 'Never decided', is: (r) => r.mode !== 'shadow' && !r.hit },
};

const effects: Record<string, 'good' | 'warn' | 'bad'> = { allow: 'good', approve: 'warn', deny: 'bad' };

const columns: Column<Row>[] = [
  {
    id: 'name',
    title: 'Rule',
    width: 'minmax(160px, 1fr)',
    sort: (r) => r.name,
    cell: (r) => (
      <Link from="/policy" to="/policy" search={(s) => ({ ...s, rule: r.name })} className="strong">
        {r.name}
      </Link>
    ),
  },
  {
    id: 'effect',
    title: 'Effect',
    width: '150px',
    sort: (r) => r.effect ?? '',
    cell: (r) => (
      <>
        <Badge tone={effects[r.effect ?? ''] ?? 'calm'}>{r.effect || 'extensions'}</Badge>{' '}
        {r.mode === 'shadow' && <Badge tone="warn">shadow</Badge>}
      </>
    ),
  },
  { id: 'about', title: 'Conditions', width: 'minmax(280px, 2.4fr)', cell: (r) => <span className="cut" title={summary(r)}>{summary(r)}</span> },
  { id: 'allow', title: 'Allowed', width: '80px', end: true, sort: (r) => r.hit?.allow ?? 0, cell: (r) => <RuleCount of={r.hit?.allow} /> },
  { id: 'deny', title: 'Denied', width: '80px', end: true, sort: (r) => r.hit?.deny ?? 0, cell: (r) => <RuleCount of={r.hit?.deny} /> },
  { id: 'shadow', title: 'In shadow', width: '90px', end: true, sort: (r) => r.hit?.shadow ?? 0, cell: (r) => <RuleCount of={r.hit?.shadow} /> },
];

function Rules() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const rules = useQuery({ queryKey: ['rules'], queryFn: rulesInForce });
  const hits = useQuery({ queryKey: ['hits'], queryFn: () => get<Hits>('/api/v1/policy/hits') });
  const rows = useMemo(() => {
    const of = new Map(hits.data?.rules.map((h) => [h.rule, h]));
    return rules.data?.rules.map((r): Row => ({ ...r, hit: of.get(r.name) }));
  }, [rules.data, hits.data]);
  const q = search.q ?? '';
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return (rows ?? []).filter(
      (r) => (kinds[search.show ?? '']?.is(r) ?? true) && (wanted === '' || `${r.name} ${r.effect} ${summary(r)}`.toLowerCase().includes(wanted)),
    );
  }, [rows, q, search.show]);
  if (rows === undefined) return rules.isError ? <Trouble error={rules.error} again={() => void rules.refetch()} /> : <Loading />;
  const shadows = rows.filter((r) => r.mode === 'shadow');
  const would = shadows.reduce((n, r) => n + (r.hit?.shadow ?? 0), 0);
  const chosen = rows.find((r) => r.name === search.rule);
  return (
    <>
      {(rules.isError || hits.isError) && <Trouble error={rules.error ?? hits.error} />}
      <div className="tiles">
        <Tile label="Rules" value={rows.length} />
        <Tile label="Default decision" value={rules.data?.default} />
        <Tile label="Shadow rules" value={shadows.length} />
        <Tile label="Shadow matches" value={would} tone={would > 0 ? 'warn' : undefined} />
      </div>
      <p className="hint">
        A matching deny rule wins, then a matching allow rule, then the default; the order of rules does not matter. This gateway has counted since{' '}
        <When at={hits.data?.since} />.
      </p>
      <div className="bar">
        <label className="search">
          <Search size={14} aria-hidden />
          <span className="unseen">Search rules</span>
          <input
            type="search"
            placeholder="Search by name or condition"
            value={q}
            onChange={(e) => void go({ search: { ...(search.show && { show: search.show }), ...(e.target.value && { q: e.target.value }) }, replace: true })}
          />
        </label>
        <div className="tabs" role="group" aria-label="Which rules">
          {[['', 'All'] as const, ...Object.entries(kinds).map(([k, v]) => [k, v.label] as const)].map(([k, label]) => (
            <button key={k} type="button" aria-pressed={(search.show ?? '') === k} onClick={() => void go({ search: { ...(q && { q }), ...(k && { show: k }) } })}>
              {label}
            </button>
          ))}
        </div>
        <span className="count" role="status">
          {counted(shown.length, rows.length, 'rule')}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty title="There are no rules">
          <code>policy.default</code> decides every call: {rules.data?.default}. Add rules below <code>policy.rules</code> and reload.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No rule matches">Clear the search, or show all rules.</Empty>
      ) : (
        <Table label="Rules" rows={shown} columns={columns} name={(r) => r.name} height={chosen ? 360 : 620} />
      )}
      {search.rule && (chosen ? <RuleDetail of={chosen} place={rules.data?.places[chosen.name]} /> : <Empty title="There is no such rule">No rule in force is called {search.rule}.</Empty>)}
    </>
  );
}

function RuleDetail({ of: row, place }: { of: Row; place: string | undefined }) {
  const { hit, ...rule } = row;
  const text = JSON.stringify(rule, null, 2);
  return (
    <section aria-label={`Rule ${rule.name}`} className="below">
      <div className="head">
        <h2>{rule.name}</h2>
        {place && (
          <span className="hint">
            <code>{place}</code> <Copy text={place} label="place of the rule" />
          </span>
        )}
        {rule.mode === 'shadow' && <Badge tone="warn">decides nothing: it is in shadow</Badge>}
        <span className="actions">
          <Link from="/policy" to="/policy" search={(s) => ({ ...(s.q && { q: s.q }), ...(s.show && { show: s.show }) })} className="button">
            Close
          </Link>
        </span>
      </div>
      {rule.mode === 'shadow' && (
        <p className="hint">
          {hit?.shadow
            ? `${hit.shadow === 1 ? 'One call' : `${hit.shadow} calls`} would have matched. Audit records list it under “shadow”.`
            : 'No call has matched since this gateway started.'}
        </p>
      )}
      <div className="raw">
        <Copy text={text} label="rule" />
        <pre tabIndex={0} aria-label={`Rule ${rule.name}, as it is in force`}>
          {text}
        </pre>
      </div>
    </section>
  );
}
