import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useMemo } from 'react';
import { type Approval, every } from '../api/client';
import { counted } from '../parts/amount';
import { State } from '../parts/approval';
import { legible } from '../parts/legible';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

const route = getRouteApi('/approvals');

/** yours reports whether a call waits for somebody like you. */
const yours = (a: Approval) => a.may && a.state === 'waiting';

/** short is the beginning of an id, without what all of them begin with. */
const short = (id: string) => id.replace(/^approval-/, '').slice(0, 8);

const columns: Column<Approval>[] = [
  { id: 'state', title: 'State', width: '86px', sort: (a) => a.state, cell: (a) => <State of={a.state} /> },
  {
    id: 'id',
    title: 'Call',
    width: '82px',
    cell: (a) => (
      <Link to="/approvals/$id" params={{ id: a.id }} className="strong" title={a.id}>
        {short(a.id)}
      </Link>
    ),
  },
  { id: 'agent', title: 'Agent', width: 'minmax(90px, 1fr)', sort: (a) => a.agent, cell: (a) => <span className="breaks">{a.agent}</span> },
  { id: 'skill', title: 'Skill', width: 'minmax(80px, 1fr)', sort: (a) => a.skill ?? '', cell: (a) => (a.skill ? <span className="breaks">{a.skill}</span> : <span className="faint">–</span>) },
  {
    id: 'caller',
    title: 'Caller',
    width: 'minmax(110px, 1.2fr)',
    sort: (a) => a.caller,
    cell: (a) => (
      <span className="breaks">
        {legible(a.caller)} <span className="faint">of {a.issuer}</span>
      </span>
    ),
  },
  {
    id: 'rules',
    title: 'Who has to agree',
    width: 'minmax(190px, 2fr)',
    cell: (a) =>
      a.rules.map((r) => (
        <div key={r.name} className="breaks">
          {r.asks}, {r.agreed} of {r.count} agreed <span className="faint">rule {r.name}</span>
        </div>
      )),
  },
  { id: 'created', title: 'Came', width: '92px', sort: (a) => a.created, cell: (a) => <When at={a.created} /> },
  { id: 'expires', title: 'Expires', width: '92px', sort: (a) => a.expires, cell: (a) => <When at={a.expires} /> },
  {
    id: 'may',
    title: 'You may decide',
    width: '110px',
    sort: (a) => (yours(a) ? 0 : 1),
    cell: (a) =>
      yours(a) ? (
        <Badge tone="warn">yes</Badge>
      ) : (
        <span className="faint" title={a.mayNot}>
          no
        </span>
      ),
  },
];

export function Approvals() {
  const { q = '', show } = route.useSearch();
  const go = route.useNavigate();
  const found = useQuery({ queryKey: ['approvals'], queryFn: () => every<'approvals', Approval>('/api/v1/approvals', 'approvals'), refetchInterval: 3_000 });
  const shown = useMemo(() => {
    const wanted = q.toLowerCase();
    return (found.data ?? []).filter(
      (a) => (show !== 'mine' || yours(a)) && (wanted === '' || `${a.id} ${a.state} ${a.agent} ${a.skill ?? ''} ${a.caller} ${a.issuer} ${a.rules.map((r) => `${r.name} ${r.asks}`).join(' ')}`.toLowerCase().includes(wanted)),
    );
  }, [found.data, q, show]);
  const all = found.data?.length ?? 0;
  return (
    <>
      <h1>Approvals</h1>
      <div className="bar">
        <label className="search">
          <Search size={14} aria-hidden />
          <span className="unseen">Search calls</span>
          <input
            type="search"
            placeholder="Search by agent, skill, caller, rule"
            value={q}
            onChange={(e) => void go({ search: { ...(show && { show }), ...(e.target.value && { q: e.target.value }) }, replace: true })}
          />
        </label>
        <div className="tabs" role="group" aria-label="Which calls">
          <button type="button" aria-pressed={!show} onClick={() => void go({ search: { ...(q && { q }) } })}>
            All
          </button>
          <button type="button" aria-pressed={show === 'mine'} onClick={() => void go({ search: { ...(q && { q }), show: 'mine' } })}>
            You may decide
          </button>
        </div>
        <span className="count" role="status">
          {counted(shown.length, all, 'call')}
        </span>
      </div>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending ? (
        <Loading />
      ) : all === 0 ? (
        !found.isError && (
          <Empty title="No call waits for approval">
            A call is listed here while it waits for people to agree, and until the agent has it. Rules with <code>effect: approve</code> below <code>policy.rules</code> make calls wait.
          </Empty>
        )
      ) : shown.length === 0 ? (
        <Empty title="No call matches">Clear the search, or show all calls.</Empty>
      ) : (
        <Table label="Calls that wait for approval" rows={shown} columns={columns} name={(a) => a.id} initial="created" least={1000} wraps />
      )}
    </>
  );
}
