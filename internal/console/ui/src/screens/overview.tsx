import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ExternalLink, Pause, Play } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type Changes, get, type Me, may, type Overview as Answer, type TopCallers } from '../api/client';
import { queryOf } from '../parts/filters';
import { toneOf, words } from '../parts/health';
import { type Period, PeriodButtons, periodOf, recordsOf, usual } from '../parts/period';
import { Plot } from '../parts/plot';
import { Empty, Loading, Trouble } from '../parts/state';
import { duration, When } from '../parts/time';
import './agent.css';
import './overview.css';

const route = getRouteApi('/');

const minute = 60_000;

/** overviewSearch takes from an address which time is meant: lately, or between two times. */
export const overviewSearch = periodOf;

const whole = (n: number) => n.toLocaleString('en', { maximumFractionDigits: 0 });
const rate = (n: number) => n.toLocaleString('en', { maximumSignificantDigits: 3 });
const share = (part: number, all: number) => (all === 0 ? '–' : `${((part / all) * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`);
const longest = 120_000; // the last bound of the buckets: more is only known to be more
const took = (ms: number | undefined) => (ms === undefined ? '–' : ms >= longest ? `≥ ${duration(longest)}` : duration(ms));

export function Overview() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const [paused, pause] = useState(false);
  const slow = search.since !== undefined || ['6h', '24h'].includes(search.window ?? '');
  const asked = queryOf(search.since ? search : { window: search.window ?? usual });
  const every = (seconds: number) => (paused ? (false as const) : seconds * 1000);
  const found = useQuery({ queryKey: ['overview', asked], queryFn: () => get<Answer>(`/api/v1/overview?${asked}`), placeholderData: keepPreviousData, refetchInterval: every(slow ? 30 : 10) });
  const of = found.data;
  return (
    <div className="overview">
      <h1>Overview</h1>
      <div className="bar">
        <PeriodButtons of={search} onAsk={(p) => void go({ search: p })} />
        <button type="button" aria-pressed={paused} onClick={() => pause(!paused)}>
          {paused ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />} {paused ? 'Refresh' : 'Pause'}
        </button>
        {of?.dashboards && (
          <a className="button" href={of.dashboards} target="_blank" rel="noreferrer">
            Dashboards <ExternalLink size={13} aria-hidden /> <span className="unseen">(a new tab)</span>
          </a>
        )}
        {of && (
          <span className="count" role="status">
            {whole(of.calls)} {of.calls === 1 ? 'call' : 'calls'}
            {paused && ', not refreshed'}
          </span>
        )}
      </div>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {!of && !found.isError && <Loading />}
      {of && <Figures of={of} search={search} />}
      <div className="columns">
        <Callers asked={asked} every={every(30)} />
        {of && <States of={of} />}
        <LastChanges until={search.since ? search.until : undefined} every={every(30)} />
      </div>
    </div>
  );
}

const inside = (label: string, value: ReactNode, more?: ReactNode) => (
  <>
    <span>{label}</span>
    <strong>{value}</strong>
    {more && <small>{more}</small>}
  </>
);

function Figures({ of, search }: { of: Answer; search: Period }) {
  const log = { type: 'call', ...recordsOf(search) };
  if (!of.counted)
    return (
      <Empty title="Calls are not counted">
        The configuration has <code>telemetry.metrics.enabled: false</code>, and the numbers here are made of the metrics. Set it to true, and restart the gateway.
      </Empty>
    );
  const unwell = (n: number, tone: string) => (n > 0 ? `tile ${tone}` : 'tile');
  return (
    <>
      <div className="tiles">
        <Link className="tile" to="/audit" search={log}>
          {inside('Calls per second', of.watched > 0 ? rate(of.rate) : '–', `${whole(of.calls)} ended`)}
        </Link>
        <Link className={unwell(of.failed, 'warn')} to="/audit" search={{ ...log, decision: 'error' }}>
          {inside('Error rate', share(of.failed, of.calls), `${whole(of.failed)} failed`)}
        </Link>
        <Link className={unwell(of.denied, 'bad')} to="/audit" search={{ ...log, decision: 'deny' }}>
          {inside('Denial rate', share(of.denied, of.calls), `${whole(of.denied)} refused`)}
        </Link>
        <Link className="tile" to="/fleet" title="Each agent has its own times">
          {inside('Latency p50', took(of.p50), `p95 ${took(of.p95)}, p99 ${took(of.p99)}`)}
        </Link>
        <Link className="tile" to="/streams">
          {inside('Open streams', whole(of.streams), 'now')}
        </Link>
        <Link className="tile" to="/push" search={{ state: 'waiting' }}>
          {inside('Webhooks waiting', whole(of.webhooks), 'now')}
        </Link>
      </div>
      {of.calls === 0 ? <Nothing of={of} /> : <Plots of={of} />}
    </>
  );
}

/** Nothing says what to do where no call was made. */
function Nothing({ of }: { of: Answer }) {
  const who = useQueryClient().getQueryData<Me>(['me']);
  return (
    <Empty title="No calls in this time">
      {Date.parse(of.until) - Date.parse(of.since) < 23 * 60 * minute && 'Look further back, or make one: '}
      {who && may(who, 'operator') ? (
        <>
          <Link to="/try">try an agent</Link> from here, or from a shell with <code>a2a-gateway call AGENT &quot;hello&quot;</code>.
        </>
      ) : (
        <>
          from a shell, with <code>a2a-gateway call AGENT &quot;hello&quot;</code>.
        </>
      )}{' '}
      It is counted within ten seconds. Nothing is known from before <When at={of.began} />, when the gateway was started.
    </Empty>
  );
}

function Plots({ of }: { of: Answer }) {
  const begin = Date.parse(of.since);
  const long = of.every * of.steps.length > 3700;
  const at = (step: number) => new Date(begin + step * of.every * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...(!long && { second: '2-digit' }) });
  const first = of.steps.findIndex((s) => s.watched > 0);
  const blank = first < 0 ? of.steps.length : first;
  const per = (n: number, watched: number) => (watched > 0 ? n / watched : undefined);
  const most = (what: (s: Answer['steps'][number]) => number) => Math.max(0, ...of.steps.map(what));
  const common = { at, blank };
  return (
    <section aria-label="How calls went">
      <div className="plots">
        <Plot
          {...common}
          title="Calls per second"
          stacked
          say={rate}
          summary={`${whole(of.calls)}, ${whole(of.denied)} denied, ${whole(of.failed)} failed`}
          series={[
            { name: 'succeeded', tone: 'plain', of: of.steps.map((s) => per(s.calls - s.denied - s.failed, s.watched)) },
            { name: 'failed', tone: 'warn', of: of.steps.map((s) => per(s.failed, s.watched)) },
            { name: 'denied', tone: 'bad', of: of.steps.map((s) => per(s.denied, s.watched)) },
          ]}
        />
        <Plot
          {...common}
          title="Latency"
          say={duration}
          summary="to the last byte, without streams; percentiles are estimates from a histogram"
          series={[
            { name: 'p50', tone: 'plain', of: of.steps.map((s) => s.p50) },
            { name: 'p95', tone: 'mid', of: of.steps.map((s) => s.p95) },
            { name: 'p99', tone: 'strong', of: of.steps.map((s) => s.p99) },
          ]}
        />
        {most((s) => s.streams) > 0 && (
          <Plot {...common} title="Open streams" counts say={whole} summary={`at most ${whole(most((s) => s.streams))}`} series={[{ name: 'open', tone: 'plain', of: of.steps.map((s) => (s.watched > 0 ? s.streams : undefined)) }]} />
        )}
        {most((s) => s.webhooks) > 0 && (
          <Plot {...common} title="Webhooks waiting" counts say={whole} summary={`at most ${whole(most((s) => s.webhooks))}`} series={[{ name: 'waiting', tone: 'strong', of: of.steps.map((s) => (s.watched > 0 ? s.webhooks : undefined)) }]} />
        )}
      </div>
    </section>
  );
}

/** Callers are those who made most calls, by the records: metrics have no label for them. */
function Callers({ asked, every }: { asked: string; every: number | false }) {
  const found = useQuery({ queryKey: ['callers', asked], queryFn: () => get<TopCallers>(`/api/v1/callers?${asked}&top=8`), placeholderData: keepPreviousData, refetchInterval: every });
  const of = found.data;
  return (
    <section aria-label="Top callers">
      <h2>Top callers</h2>
      <p className="hint">
        By the audit log, as metrics do not tell callers apart.
        {of?.more && (
          <>
            {' '}
            Of more than <code>admin.map.records</code> calls these are the newest {whole(of.counted)}, since <When at={of.since} />.
          </>
        )}
      </p>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {of && of.callers.length === 0 && <p className="hint">Nobody has called in this time.</p>}
      {of && of.callers.length > 0 && (
        <table className="plain" aria-label="Top callers">
          <thead>
            <tr>
              <th scope="col">Caller</th>
              <th scope="col" className="end">
                Calls
              </th>
              <th scope="col" className="end">
                Denied
              </th>
              <th scope="col" className="end">
                Failed
              </th>
            </tr>
          </thead>
          <tbody>
            {of.callers.map((c) => (
              <tr key={c.name}>
                <td>
                  {c.name ? (
                    <Link to="/audit" search={{ caller: c.name, type: 'call' }}>
                      {c.name}
                    </Link>
                  ) : (
                    <span className="faint">unknown caller</span>
                  )}
                </td>
                <td className="end">{whole(c.calls)}</td>
                <td className="end">{c.denied > 0 ? <span className="bad">{whole(c.denied)}</span> : '–'}</td>
                <td className="end">{c.failed > 0 ? <span className="warn">{whole(c.failed)}</span> : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** States are how many agents are how, the worst first, each leading to those of the fleet. */
function States({ of }: { of: Answer }) {
  const count = new Map(of.agents.map((a) => [a.state ?? 'not served', a.agents]));
  const known = [...new Set([...words, ...count.keys()])].filter((w) => count.has(w));
  return (
    <section aria-label="Agents">
      <h2>Agents</h2>
      {known.length === 0 ? (
        <p className="hint">
          There is none yet. Add one below <code>agents</code> in the configuration, or with <code>a2a-gateway agents add</code>.
        </p>
      ) : (
        <ul className="states">
          {known.map((w) => (
            <li key={w}>
              <Link to="/fleet" search={{ q: w }} className={`dot ${toneOf(w)}`}>
                {count.get(w)} {w}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** said are changes in words; what else there is is shown as the record has it. */
const said: Record<string, string> = {
  'config.reloaded': 'configuration came into force',
  'card.changed': 'card changed',
  'card.quarantined': 'changed card waits',
  'card.refused': 'changed card refused',
  'card.approved': 'card approved',
  'card.rejected': 'card rejected',
  'key.created': 'API key made',
  'key.rotated': 'API key rotated',
  'key.revoked': 'API key revoked',
  'agent.added': 'agent registered',
  'agent.changed': 'agent changed',
  'agent.removed': 'agent removed',
};

function LastChanges({ until, every }: { until: string | undefined; every: number | false }) {
  const found = useQuery({
    queryKey: ['changes', until],
    queryFn: () => get<Changes>(`/api/v1/changes?top=8${until ? `&until=${encodeURIComponent(until)}` : ''}`),
    placeholderData: keepPreviousData,
    refetchInterval: every,
  });
  const of = found.data;
  return (
    <section aria-label="Last changes">
      <h2>Last changes</h2>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {of && of.changes.length === 0 && <p className="hint">Nothing is on record yet: of the configuration, of cards, API keys and registered agents.</p>}
      {of && of.changes.length > 0 && (
        <table className="plain" aria-label="Last changes">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col">Who</th>
            </tr>
          </thead>
          <tbody>
            {of.changes.map((c) => (
              <tr key={c.seq}>
                <td>
                  <When at={c.time} />
                </td>
                <td>
                  <Link to="/audit/$seq" params={{ seq: String(c.seq) }}>
                    {said[c.event] ?? c.event}
                  </Link>
                  {c.what && <>: {c.what}</>}
                  {c.outcome && <span className="bad"> ({c.outcome})</span>}
                </td>
                <td>{c.who ?? <span className="faint">–</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
