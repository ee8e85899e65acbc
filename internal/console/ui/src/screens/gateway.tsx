import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ChevronRight, RotateCw } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { ask, type Cluster, get, has, type Me, may, type Peer } from '../api/client';
import type { components } from '../api/schema';
import { count, size, whole } from '../parts/amount';
import { Confirm } from '../parts/confirm';
import { Copy, Digest } from '../parts/copy';
import { Badge, Empty, Loading, Tile, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

type Status = components['schemas']['Status'];
type Health = components['schemas']['Health'];
type Check = components['schemas']['Check'];
type Limit = components['schemas']['Limit'];
type Certificate = components['schemas']['Certificate'];

const route = getRouteApi('/gateway');

const checks: Column<Check>[] = [
  { id: 'ok', title: 'Result', width: '90px', sort: (c) => (c.ok ? 1 : 0), cell: (c) => <span className={`dot ${c.ok ? 'good' : 'bad'}`}>{c.ok ? 'ok' : 'failed'}</span> },
  { id: 'name', title: 'Check', width: 'minmax(150px, 1fr)', sort: (c) => c.name, cell: (c) => <span className="cut">{c.name}</span> },
  { id: 'why', title: 'Why', width: 'minmax(200px, 2.4fr)', cell: (c) => <span className="cut" title={c.why}>{c.why}</span> },
];

/** GatewayScreen is how this gateway does, and what it runs with. */
export function GatewayScreen() {
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const status = useQuery({ queryKey: ['status'], queryFn: () => get<Status>('/api/v1/status'), refetchInterval: 5_000 });
  const health = useQuery({ queryKey: ['health'], queryFn: () => get<Health>('/api/v1/health'), refetchInterval: 5_000 });
  const failing = useMemo(() => status.data?.checks.filter((c) => !c.ok) ?? [], [status.data]);
  return (
    <>
      <h1>Config and health</h1>
      {status.isError && <Trouble error={status.error} again={() => void status.refetch()} />}
      {status.isPending && <Loading />}
      {status.data && (
        <>
          <div className="tiles">
            <Tile label={status.data.why ? `Not ready: ${status.data.why}` : 'Accepts calls'} value={status.data.ready ? 'ready' : 'not ready'} tone={status.data.ready ? undefined : 'bad'} />
            <Tile label="Failing checks" value={`${failing.length} of ${status.data.checks.length}`} tone={failing.length > 0 ? 'warn' : undefined} />
            <Tile label="Agents" value={status.data.agents} />
            <Tile label="Started" value={<When at={status.data.started} />} />
            <Tile label="Version" value={status.data.version} />
          </div>
          <Reload of={status.data.config} operates={who !== undefined && may(who, 'operator')} />
        </>
      )}
      {health.isError && <Trouble error={health.error} again={() => void health.refetch()} />}
      {health.data && (
        <>
          <Parts of={health.data} />
          <Gateways />
          <Limits of={health.data.limits} />
          <Certificates of={health.data.certificates} />
        </>
      )}
      {status.data && <Checks all={status.data.checks} failing={failing} />}
      {who && (has(who, 'operator') ? <Running /> : <p className="hint">The role operator is needed to see the running configuration.</p>)}
      {health.data && <About of={health.data.build} />}
    </>
  );
}

function Reload({ of, operates }: { of: Status['config']; operates: boolean }) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  const reload = useMutation({
    mutationFn: () => ask('POST', '/api/v1/config/reload'),
    onSettled: () => {
      setAsked(false);
      for (const key of ['status', 'health', 'config']) void queries.invalidateQueries({ queryKey: [key] });
    },
  });
  return (
    <section aria-labelledby="reload">
      <div className="head">
        <h2 id="reload">Configuration in force</h2>
        <Digest of={of.digest} />
        {operates && (
          <div className="actions">
            <button type="button" disabled={reload.isPending} onClick={() => setAsked(true)}>
              <RotateCw size={13} aria-hidden /> Reload
            </button>
          </div>
        )}
      </div>
      {reload.isError && <Trouble error={reload.error} />}
      <p role="status">
        {!of.reloaded && <>The configuration has not been reloaded since the gateway started. To apply a change of the file at once, reload it here or send SIGHUP.</>}
        {of.reloaded && !of.failure && (
          <>
            <span className="dot good">The latest reload</span>, <When at={of.reloaded} />, is in force.
          </>
        )}
        {of.reloaded && of.failure && (
          <>
            <span className="dot bad">The latest reload</span>, <When at={of.reloaded} />, failed and changed nothing: the previous configuration is still in force.
          </>
        )}
      </p>
      {of.failure && <pre>{of.failure}</pre>}
      {asked && (
        <Confirm title="Reload the configuration?" action="Reload" busy={reload.isPending} onDo={() => reload.mutate()} onClose={() => setAsked(false)}>
          <p>The gateway reads its file again. A file with an error changes nothing. Calls in progress finish under the old configuration. The audit log records that you did it.</p>
        </Confirm>
      )}
    </section>
  );
}

function Fact({ name, ok, children }: { name: string; ok: boolean; children: ReactNode }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <span className={`dot ${ok ? 'good' : 'bad'}`}>{ok ? 'ok' : 'failing'}</span>
      </td>
      <td>{children}</td>
    </tr>
  );
}

const lag = (n: number, seconds: number) => (n === 0 ? 'nothing pending' : `${whole(n)} pending, the oldest for ${seconds.toFixed(1)} s`);

function Parts({ of }: { of: Health }) {
  const { state, audit, sinks } = of;
  return (
    <section aria-labelledby="parts" tabIndex={0}>
      <h2 id="parts">Dependencies</h2>
      <table className="plain">
        <tbody>
          <Fact name="State" ok={state.ok}>
            {state.driver}, {state.shared ? 'shared with other gateways' : 'not shared'}
            {state.why && <div>{state.why}</div>}
          </Fact>
          <Fact name="Audit log" ok={audit.ok}>
            latest record {whole(audit.seq)}; not yet on disk: {lag(audit.unsynced, audit.oldest)}; when it fails, the gateway {audit.failOpen ? 'lets calls pass' : 'refuses calls'}
            {audit.why && <div>{audit.why}</div>}
          </Fact>
          {sinks.map((s) => (
            <Fact key={s.kind} name={`Sinks, ${s.kind}`} ok={s.failing === 0}>
              {lag(s.waiting, s.oldest)}
              {s.failing > 0 && `; ${s.failing} failing, whose records are kept until they recover`}
            </Fact>
          ))}
        </tbody>
      </table>
      {sinks.length === 0 && <p className="hint">Records are not exported. To send them to Kafka, PostgreSQL, syslog or OTLP, set telemetry.audit.sinks.</p>}
    </section>
  );
}

/** Gateways are those that share the state. */
function Gateways() {
  const found = useQuery({ queryKey: ['cluster'], queryFn: () => get<Cluster>('/api/v1/cluster'), refetchInterval: 5_000 });
  const of = found.data;
  const read = of?.gateways.filter((g) => !g.sealed) ?? [];
  const differ = (what: (g: Peer) => string | undefined) => new Set(read.map(what)).size > 1;
  const [versions, configs] = [differ((g) => `${g.version} ${g.revision}`), differ((g) => g.config)];
  return (
    <section aria-labelledby="gateways" tabIndex={0}>
      <h2 id="gateways">Replicas</h2>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {of && !of.shared && <p className="hint">This gateway does not share its state. To run several replicas, set state.driver to redis.</p>}
      {of?.shared && (
        <>
          {(versions || configs) && (
            <p role="status">
              <Badge tone="warn">they differ</Badge> Not all replicas have {versions && 'the same version'}
              {versions && configs && ' and '}
              {configs && 'the same configuration'}, as in the middle of a rollout.
            </p>
          )}
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">Gateway</th>
                <th scope="col">Status</th>
                <th scope="col">Version</th>
                <th scope="col">Configuration</th>
                <th scope="col">In progress</th>
                <th scope="col">Started</th>
                <th scope="col">Last seen</th>
              </tr>
            </thead>
            <tbody>
              {of.gateways.map((g) => (
                <tr key={g.instance}>
                  <th scope="row">
                    {g.sealed ? <code>{g.instance}</code> : (g.id ?? g.host)} {g.self && <Badge tone="calm">this one</Badge>}
                    {g.host && g.id && <div className="hint">on {g.host}</div>}
                  </th>
                  {g.sealed ? (
                    <td colSpan={6}>
                      <Badge tone="bad">has other keys</Badge> It cannot read what this gateway keeps in the shared state, nor the other way round. Give all replicas the same keys in keys.dir.
                    </td>
                  ) : (
                    <>
                      <td>
                        <span className={`dot ${g.ready ? 'good' : 'warn'}`}>{g.ready ? 'ready' : 'not ready'}</span>
                        {g.why && <div className="hint">{g.why}</div>}
                      </td>
                      <td>
                        {g.version} {g.revision && <code className="hint">{g.revision.slice(0, 8)}</code>}
                      </td>
                      <td>
                        <Digest of={g.config} />
                      </td>
                      <td>
                        {count(g.calls, 'call')}, {count(g.streams, 'stream')}
                      </td>
                      <td>
                        <When at={g.started} />
                      </td>
                      <td>
                        <When at={g.seen} />
                      </td>
                    </>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

function amount(n: number, unit: string): string {
  if (unit === 'seconds') return `${Math.round(n * 1000)} ms`;
  return unit === 'bytes' ? size(n) : whole(n);
}

function Limits({ of }: { of: Limit[] }) {
  return (
    <section aria-labelledby="limits" tabIndex={0}>
      <h2 id="limits">Load limits</h2>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">In use</th>
            <th scope="col">Limit</th>
            <th scope="col">
              <span className="unseen">Share</span>
            </th>
            <th scope="col">Load shedding</th>
          </tr>
        </thead>
        <tbody>
          {of.map((l) => (
            <tr key={l.name}>
              <th scope="row">
                <code>{l.name}</code>
              </th>
              <td>{amount(l.used, l.unit)}</td>
              <td>{l.max > 0 ? amount(l.max, l.unit) : <span className="faint">no limit</span>}</td>
              <td>{l.max > 0 && <meter aria-label={`Share of ${l.name}`} min={0} max={l.max} high={l.max * 0.8} low={l.max * 0.6} optimum={0} value={Math.min(l.used, l.max)} />}</td>
              <td>{l.refuses ? <Badge tone="bad">refuses calls</Badge> : <span className="faint">no</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="hint">Of this process. Rate limits and quotas of callers, and whom they refused, are under Policy, Limits.</p>
    </section>
  );
}

const week = 7 * 86_400_000;

function Certificates({ of }: { of: Certificate[] }) {
  const ends = (c: Certificate) => {
    const left = Date.parse(c.notAfter) - Date.now();
    return left < 0 ? <Badge tone="bad">expired</Badge> : left < week ? <Badge tone="warn">expires soon</Badge> : <Badge tone="good">valid</Badge>;
  };
  return (
    <section aria-labelledby="certificates" tabIndex={0}>
      <h2 id="certificates">TLS certificates</h2>
      {of.length === 0 ? (
        <Empty title="No TLS">
          Neither the public nor the admin listener has a certificate. Terminate TLS in front of this gateway, or set <code>server.tls</code> and <code>admin.tls</code>.
        </Empty>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Names</th>
              <th scope="col">Listener</th>
              <th scope="col">Expires</th>
              <th scope="col">Issuer</th>
              <th scope="col">Serial</th>
            </tr>
          </thead>
          <tbody>
            {of.map((c) => (
              <tr key={c.listener + c.serial}>
                <td>{c.names.join(', ')}</td>
                <td>{c.listener}</td>
                <td>
                  {ends(c)} <When at={c.notAfter} />
                  {c.renewal && <div className="bad">renewal failed: {c.renewal}</div>}
                </td>
                <td>{c.issuer}</td>
                <td>
                  <code>{c.serial}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Checks({ all, failing }: { all: Check[]; failing: Check[] }) {
  const show = route.useSearch().checks;
  const go = route.useNavigate();
  const rows = show === 'all' ? all : failing;
  return (
    <section aria-labelledby="checks">
      <div className="head">
        <h2 id="checks">Checks</h2>
        <div className="tabs" role="group" aria-label="Which checks">
          <button type="button" aria-pressed={show !== 'all'} onClick={() => void go({ search: {}, resetScroll: false })}>
            Failing ({failing.length})
          </button>
          <button type="button" aria-pressed={show === 'all'} onClick={() => void go({ search: { checks: 'all' }, resetScroll: false })}>
            All ({all.length})
          </button>
        </div>
      </div>
      {rows.length === 0 ? <Empty title="No check fails">Choose All to see every check. /readyz?verbose lists them too.</Empty> : <Table label="Checks" rows={rows} columns={checks} name={(c) => c.name + (c.why ?? '')} height={360} least={560} />}
    </section>
  );
}

const most = 200_000; // characters of a section that are shown

/** Running is the configuration in force, a section at a time. */
function Running() {
  const config = useQuery({ queryKey: ['config'], queryFn: () => get<Record<string, unknown>>('/api/v1/config'), refetchInterval: 30_000 });
  return (
    <section aria-labelledby="running">
      <h2 id="running">Running configuration</h2>
      <p className="hint">With defaults and limits. The gateway redacts secrets before it sends it.</p>
      {config.isError && <Trouble error={config.error} again={() => void config.refetch()} />}
      {config.isPending && <Loading />}
      {config.data && Object.entries(config.data).map(([key, value]) => <Section key={key} name={key} value={value} />)}
    </section>
  );
}

function Section({ name, value }: { name: string; value: unknown }) {
  const [open, setOpen] = useState(false);
  const text = useMemo(() => (open ? (JSON.stringify(value, null, 2) ?? '') : ''), [open, value]);
  const holds = Array.isArray(value) ? count(value.length, 'entry', 'entries') : value !== null && typeof value === 'object' ? count(Object.keys(value).length, 'key') : '';
  return (
    <div>
      <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} aria-hidden /> <code>{name}</code> <span className="faint">{holds}</span>
      </button>
      {open && (
        <div className="raw">
          <Copy text={text} label={name} />
          <pre tabIndex={0} role="region" aria-label={name}>
            {text.slice(0, most)}
          </pre>
          {text.length > most && <p className="hint">This shows the beginning. Copy has {count(text.length - most, 'more character')}, as GET /api/v1/config does.</p>}
        </div>
      )}
    </div>
  );
}

function About({ of }: { of: Health['build'] }) {
  const facts: [string, ReactNode][] = [
    ['Gateway (server.id)', of.id ?? '–'],
    ['Host', of.host ?? '–'],
    ['Platform', `${of.platform}, ${count(of.processors, 'processor')}`],
    ['Built with', of.go],
    ['Revision', of.revision ? <code>{of.revision.slice(0, 12)}</code> : '–'],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
