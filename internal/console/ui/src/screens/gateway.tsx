import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ChevronRight, RotateCw } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { ask, type Cluster, get, has, type Me, may, type Peer } from '../api/client';
import type { components } from '../api/schema';
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
            <Tile label={status.data.why ? `Not ready: ${status.data.why}` : 'Takes calls'} value={status.data.ready ? 'ready' : 'not ready'} tone={status.data.ready ? undefined : 'bad'} />
            <Tile label="Checks that fail" value={`${failing.length} of ${status.data.checks.length}`} tone={failing.length > 0 ? 'warn' : undefined} />
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
      {who && (has(who, 'operator') ? <Running /> : <p className="hint">The configuration in force is shown to the role operator.</p>)}
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
        {!of.reloaded && <>Nobody has asked for a reload since the gateway was started.</>}
        {of.reloaded && !of.failure && (
          <>
            <span className="dot good">The latest reload</span>, <When at={of.reloaded} />, is in force.
          </>
        )}
        {of.reloaded && of.failure && (
          <>
            <span className="dot bad">The latest reload</span>, <When at={of.reloaded} />, changed nothing: the configuration of before is still in force.
          </>
        )}
      </p>
      {of.failure && <pre>{of.failure}</pre>}
      {asked && (
        <Confirm title="Reload the configuration?" action="Reload" busy={reload.isPending} onDo={() => reload.mutate()} onClose={() => setAsked(false)}>
          <p>The file is read anew. What cannot be served changes nothing. Calls that are under way end as they began; that you did it is on record.</p>
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

const lag = (n: number, seconds: number) => (n === 0 ? 'nothing waits' : `${n.toLocaleString('en')} waiting, the oldest for ${seconds.toFixed(1)} s`);

function Parts({ of }: { of: Health }) {
  const { state, audit, sinks } = of;
  return (
    <section aria-labelledby="parts" tabIndex={0}>
      <h2 id="parts">What it stands on</h2>
      <table className="plain">
        <tbody>
          <Fact name="State" ok={state.ok}>
            {state.driver}, {state.shared ? 'shared with other gateways' : 'of this gateway alone'}
            {state.why && <div>{state.why}</div>}
          </Fact>
          <Fact name="Audit log" ok={audit.ok}>
            the latest record is number {audit.seq.toLocaleString('en')}; for the disk: {lag(audit.unsynced, audit.oldest)}; without it calls {audit.failOpen ? 'go on' : 'are refused'}
            {audit.why && <div>{audit.why}</div>}
          </Fact>
          {sinks.map((s) => (
            <Fact key={s.kind} name={`Sinks, ${s.kind}`} ok={s.failing === 0}>
              {lag(s.waiting, s.oldest)}
              {s.failing > 0 && `; ${s.failing} take no records, which are kept for them`}
            </Fact>
          ))}
        </tbody>
      </table>
      {sinks.length === 0 && <p className="hint">Records go to no sink (telemetry.audit.sinks).</p>}
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
      <h2 id="gateways">Gateways of this state</h2>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {of && !of.shared && <p className="hint">The state is this gateway’s own (state.driver): nobody else is here.</p>}
      {of?.shared && (
        <>
          {(versions || configs) && (
            <p role="status">
              <Badge tone="warn">they differ</Badge> Not all have {versions && 'the same version'}
              {versions && configs && ' and '}
              {configs && 'the same configuration'}, as in the middle of a rollout.
            </p>
          )}
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">Gateway</th>
                <th scope="col">Stands</th>
                <th scope="col">Version</th>
                <th scope="col">Configuration</th>
                <th scope="col">Under way</th>
                <th scope="col">Started</th>
                <th scope="col">Said so</th>
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
                      <Badge tone="bad">has other keys</Badge> What it keeps in the state nobody here can open, and the other way round: keys.dir has to hold the same keys for all.
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
                        {g.calls.toLocaleString('en')} calls, {g.streams.toLocaleString('en')} streams
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

const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function amount(n: number, unit: string): string {
  if (unit === 'seconds') return `${Math.round(n * 1000)} ms`;
  if (unit !== 'bytes') return n.toLocaleString('en');
  const i = n < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(n) / 10));
  return `${(n / 1024 ** i).toFixed(i === 0 ? 0 : 1)} ${sizes[i]}`;
}

function Limits({ of }: { of: Limit[] }) {
  return (
    <section aria-labelledby="limits" tabIndex={0}>
      <h2 id="limits">Limits in use</h2>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">In use</th>
            <th scope="col">Of</th>
            <th scope="col">
              <span className="unseen">Share</span>
            </th>
            <th scope="col">Now</th>
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
              <td>{l.refuses ? <Badge tone="bad">refuses calls</Badge> : <span className="faint">lets in</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="hint">Of this process. Rates and quotas of callers are in the configuration; who is refused for them is in the audit log, by the limit’s name.</p>
    </section>
  );
}

const week = 7 * 86_400_000;

function Certificates({ of }: { of: Certificate[] }) {
  const ends = (c: Certificate) => {
    const left = Date.parse(c.notAfter) - Date.now();
    return left < 0 ? <Badge tone="bad">expired</Badge> : left < week ? <Badge tone="warn">soon</Badge> : <Badge tone="good">valid</Badge>;
  };
  return (
    <section aria-labelledby="certificates" tabIndex={0}>
      <h2 id="certificates">Certificates served</h2>
      {of.length === 0 ? (
        <Empty title="No TLS here">Neither the public nor the admin listener serves a certificate: TLS ends in front of this gateway, if at all (server.tls, admin.tls).</Empty>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Names</th>
              <th scope="col">Listener</th>
              <th scope="col">Ends</th>
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
                  {c.renewal && <div className="bad">not renewed: {c.renewal}</div>}
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
      {rows.length === 0 ? <Empty title="Nothing fails">Every check is ok.</Empty> : <Table label="Checks" rows={rows} columns={checks} name={(c) => c.name + (c.why ?? '')} height={360} />}
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
      <p className="hint">With its defaults and limits, without its secrets: what was one is redacted before it leaves the gateway.</p>
      {config.isError && <Trouble error={config.error} again={() => void config.refetch()} />}
      {config.isPending && <Loading />}
      {config.data && Object.entries(config.data).map(([key, value]) => <Section key={key} name={key} value={value} />)}
    </section>
  );
}

function Section({ name, value }: { name: string; value: unknown }) {
  const [open, setOpen] = useState(false);
  const text = useMemo(() => (open ? (JSON.stringify(value, null, 2) ?? '') : ''), [open, value]);
  const count = Array.isArray(value) ? `${value.length} entries` : value !== null && typeof value === 'object' ? `${Object.keys(value).length} keys` : '';
  return (
    <div>
      <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} aria-hidden /> <code>{name}</code> <span className="faint">{count}</span>
      </button>
      {open && (
        <div className="raw">
          <Copy text={text} label={name} />
          <pre tabIndex={0} role="region" aria-label={name}>
            {text.slice(0, most)}
          </pre>
          {text.length > most && <p className="hint">{(text.length - most).toLocaleString('en')} more characters are copied, and in GET /api/v1/config.</p>}
        </div>
      )}
    </div>
  );
}

function About({ of }: { of: Health['build'] }) {
  const facts: [string, ReactNode][] = [
    ['Gateway (server.id)', of.id ?? '–'],
    ['Host', of.host ?? '–'],
    ['Platform', `${of.platform}, ${of.processors} processors`],
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
