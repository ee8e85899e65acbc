import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Found, get, type Guard, type GuardFindings, has, type Me } from '../api/client';
import { count, whole } from '../parts/amount';
import { queryOf } from '../parts/filters';
import { GuardReplayView } from '../parts/guard-replay';
import { TryText } from '../parts/guard-try';
import { type Period, PeriodButtons, periodOf, recordsOf, usual } from '../parts/period';
import { type Range, ranged } from '../parts/range';
import { flow, plain } from '../parts/rules';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { When } from '../parts/time';
import './guards.css';
import './overview.css';

const route = getRouteApi('/guards');

const views = { found: 'In force', try: 'Try a text', replay: 'Replay' } as const;
type View = keyof typeof views;

export interface GuardsSearch extends Period, Range {
  view?: View;
  agent?: string;
  records?: number;
}

const word = (v: unknown) => (typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '');

export function guardsSearch(s: Record<string, unknown>): GuardsSearch {
  switch (word(s.view)) {
    case 'try':
      return { view: 'try', ...(word(s.agent) && { agent: word(s.agent) }) };
    case 'replay':
      return { view: 'replay', ...ranged(s), ...(Number(s.records) > 0 && { records: Math.floor(Number(s.records)) }) };
    default:
      return periodOf(s);
  }
}

export function Guards() {
  const search = route.useSearch();
  const { view = 'found' } = search;
  const go = route.useNavigate();
  const who = useQueryClient().getQueryData<Me>(['me']);
  const found = useQuery({ queryKey: ['guards'], queryFn: () => get<{ guards: Guard[] }>('/api/v1/guards') });
  const guards = found.data?.guards;
  const operates = who !== undefined && has(who, 'operator');
  return (
    <>
      <h1>Guards</h1>
      <div className="bar">
        <div className="tabs" role="group" aria-label="What to look at">
          {Object.entries(views).map(([k, label]) => (
            <button key={k} type="button" aria-pressed={view === k} onClick={() => void go({ search: k === 'found' ? {} : { view: k as View } })}>
              {label}
            </button>
          ))}
        </div>
        {view === 'found' && <PeriodButtons of={search} onAsk={(p) => void go({ search: p })} />}
      </div>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {guards && view === 'found' && <InForce guards={guards} period={periodOf({ ...search })} />}
      {guards && view !== 'found' && !operates && <Empty title="This takes the role operator">Your role shows the guards in force, and what they found.</Empty>}
      {guards && view === 'try' && operates && <TryText guards={guards} agent={search.agent} />}
      {guards && view === 'replay' && operates && (
        <GuardReplayView
          guards={guards}
          of={{ ...ranged({ ...search }), ...(search.records && { records: search.records }) }}
          onAsk={(at) => void go({ search: { view: 'replay', ...at }, replace: true })}
        />
      )}
    </>
  );
}

/** conditionsOf are those of a guard on one line. */
const conditionsOf = (g: Guard) => {
  const all = Object.entries(plain({ name: '', agents: g.agents, ...g.conditions })).filter(([k]) => k !== 'name');
  return all.map(([k, v]) => `${k}: ${Array.isArray(v) ? v.map(flow).join(' ') : flow(v)}`).join(' · ') || 'every call';
};

const tones = { refuse: 'bad', redact: 'warn', report: 'calm' } as const;

function InForce({ guards, period }: { guards: Guard[]; period: Period }) {
  const asked = queryOf(period.since ? period : { window: period.window ?? usual });
  const counted = useQuery({
    queryKey: ['guard-findings', asked],
    queryFn: () => get<GuardFindings>(`/api/v1/guards/findings?${asked}`),
    placeholderData: keepPreviousData,
    refetchInterval: period.since ? false : 10_000,
  });
  const of = counted.data;
  const log = { type: 'call', ...recordsOf(period) };
  return (
    <>
      <section aria-labelledby="guards-in-force" tabIndex={0}>
        <h2 id="guards-in-force">Guards in force</h2>
        {guards.length === 0 ? (
          <Empty title="No guards">
            Nothing looks at what messages and artifacts say. Add guards below <code>policy.guards</code>.
          </Empty>
        ) : (
          <table className="plain" aria-label="Guards in force">
            <thead>
              <tr>
                <th scope="col">Guard</th>
                <th scope="col">Use</th>
                <th scope="col">On</th>
                <th scope="col">Action</th>
                <th scope="col">Applies to</th>
                <th scope="col">Calls</th>
              </tr>
            </thead>
            <tbody>
              {guards.map((g) => (
                <tr key={g.name}>
                  <th scope="row">
                    <code>{g.name}</code>
                  </th>
                  <td>
                    {g.use}
                    {g.settings.service !== undefined && <span className="faint"> (asks a service)</span>}
                  </td>
                  <td>{g.on.length === 3 ? 'request, answer, event' : g.on.join(', ')}</td>
                  <td>
                    <Badge tone={tones[g.action as keyof typeof tones] ?? 'calm'}>{g.action}</Badge> {g.mode === 'shadow' && <Badge tone="warn">shadow</Badge>}
                  </td>
                  <td className="prose">{conditionsOf(g)}</td>
                  <td>{whole(of?.guards.find((f) => f.name === g.name)?.calls ?? 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {counted.isError && <Trouble error={counted.error} again={() => void counted.refetch()} />}
      {counted.isPending && <Loading />}
      {of && (
        <section aria-label="Findings">
          <div className="head">
            <h2>What they found</h2>
            <span className="count" role="status">
              {count(of.calls, 'call')}
            </span>
          </div>
          {of.more && (
            <p className="hint">
              Guards found something in more calls than this screen counts (<code>admin.map.records</code>). It counts the newest, since <When at={of.since} />.
            </p>
          )}
          {of.calls === 0 ? (
            <Empty title="Nothing found">No guard found anything in calls of this time. Choose a longer one to look further back.</Empty>
          ) : (
            <div className="found columns">
              <Counts title="By guard" of={of.guards} search={(name) => ({ ...log, guard: name })} />
              <Counts title="By kind" of={of.kinds} search={(name) => ({ ...log, finding: name })} />
              <Counts title="By agent" of={of.agents} search={(name) => ({ ...log, agent: name, guard: '*' })} />
              <Counts title="By caller" of={of.callers} search={(name) => ({ ...log, caller: name, guard: '*' })} />
            </div>
          )}
        </section>
      )}
    </>
  );
}

type Search = Range & { type: string; guard?: string; finding?: string; agent?: string; caller?: string };

/** Counts are calls by what they have in common, each leading to its records. */
function Counts({ title, of, search }: { title: string; of: Found[]; search: (name: string) => Search }) {
  const number = (n: number, tone: string) => <td className="end">{n > 0 ? <span className={tone}>{whole(n)}</span> : '–'}</td>;
  return (
    <section aria-label={title} tabIndex={0}>
      <h2>{title}</h2>
      <table className="plain" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {['Calls', 'Refused', 'Redacted', 'Recorded'].map((t) => (
              <th key={t} scope="col" className="end">
                {t}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((f) => (
            <tr key={f.name}>
              <td>
                {f.name ? (
                  <Link to="/audit" search={search(f.name)}>
                    {f.name}
                  </Link>
                ) : (
                  <span className="faint">no name</span>
                )}
              </td>
              <td className="end">{whole(f.calls)}</td>
              {number(f.refused, 'bad')}
              {number(f.redacted, 'warn')}
              {number(f.recorded, 'faint')}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
