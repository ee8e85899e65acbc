import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { KeyRound, Plus, RotateCw, Search, Trash2 } from 'lucide-react';
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { type APIKey, ask, get, type Identities, type MadeKey, type Me, may, post } from '../api/client';
import { count, whole } from '../parts/amount';
import { Confirm } from '../parts/confirm';
import { Copy } from '../parts/copy';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

const route = getRouteApi('/identities');

type Page = { keys: APIKey[]; next?: string };

/** IdentitiesScreen says whose credentials are taken. */
export function IdentitiesScreen() {
  const found = useQuery({ queryKey: ['identities'], queryFn: () => get<Identities>('/api/v1/identities') });
  const is = found.data;
  return (
    <>
      <h1>Identities</h1>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {is && (
        <>
          <p className="hint">
            {is.combinations.length > 0
              ? `A call needs ${is.combinations.map((c) => (c.client ? `${c.user} with ${c.client}` : `${c.user} alone`)).join(', or ')}.`
              : 'A call carries exactly one credential.'}{' '}
            {is.anonymous ? 'The gateway admits callers without one, as anonymous (authn.anonymous).' : 'The gateway refuses callers without one.'}
          </p>
          <Issuers of={is} />
          <Keys of={is} />
          <Certificates of={is} />
        </>
      )}
    </>
  );
}

function Issuers({ of }: { of: Identities }) {
  return (
    <section aria-labelledby="issuers" tabIndex={0}>
      <h2 id="issuers">Token issuers</h2>
      {of.issuers.length === 0 ? (
        <p className="hint">The gateway accepts no access tokens. To accept those of an OpenID Connect or OAuth issuer, set authn.oidc.</p>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Issuer</th>
              <th scope="col">Keys</th>
              <th scope="col">Fetched</th>
              <th scope="col">Accepted tokens</th>
            </tr>
          </thead>
          <tbody>
            {of.issuers.map((i) => (
              <tr key={i.issuer}>
                <th scope="row">
                  <code>{i.issuer}</code>
                  {i.tenant && <div className="hint">every caller is of tenant {i.tenant}</div>}
                </th>
                <td>
                  {i.keys.map((k) => (
                    <div key={`${k.id} ${k.kind}`}>
                      <code>{k.id || 'without id'}</code> {k.kind}
                      {k.algorithm && `, ${k.algorithm}`}
                    </div>
                  ))}
                  {i.keys.length === 0 && <span className="faint">{i.failure ? 'none' : 'not fetched yet'}</span>}
                </td>
                <td>
                  {i.failure ? <Badge tone="bad">fetch failed</Badge> : i.fetched ? <Badge tone="good">fetched</Badge> : <Badge tone="calm">not yet</Badge>} <When at={i.fetched} />
                  {i.fresh && (
                    <div className="hint">
                      cached until <When at={i.fresh} />
                    </div>
                  )}
                  {i.failure && <div className="bad">{i.failure}</div>}
                </td>
                <td>
                  header {i.header}, audience {i.audiences.join(' or ')}
                  <div className="hint">
                    {i.algorithms.join(', ')}
                    {i.senderConstrained && '; sender-constrained only (DPoP, mTLS)'}
                    {i.introspection && '; checked by introspection'}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const tones: Record<string, 'good' | 'warn' | 'bad' | 'calm'> = { active: 'good', rotating: 'warn', expired: 'calm', revoked: 'bad' };
const listed = (what: string, list: string[]) => (list.length > 0 ? [`${what} ${list.join(', ')}`] : []);

/** rights is what a key gives its caller. */
const rights = (k: APIKey) =>
  [...listed('groups', k.groups), ...listed('scopes', k.scopes), ...(k.bound ? [k.agents.length > 0 ? `only ${k.agents.length === 1 ? 'agent' : 'agents'} ${k.agents.join(', ')}` : 'no agent'] : [])].join('; ') || 'those of its caller';

function Keys({ of }: { of: Identities }) {
  const q = route.useSearch().q ?? '';
  const go = route.useNavigate();
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [doing, setDoing] = useState<{ what: 'make' } | { what: 'rotate' | 'revoke'; key: APIKey } | null>(null);
  const [made, setMade] = useState<MadeKey | null>(null);
  const ring = of.apiKeys;
  const list = useInfiniteQuery({
    queryKey: ['keys', q],
    queryFn: ({ pageParam }) => get<Page>(`/api/v1/keys?limit=500&q=${encodeURIComponent(q)}${pageParam && `&cursor=${encodeURIComponent(pageParam)}`}`),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    enabled: ring !== undefined,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((p) => p.keys) ?? [], [list.data]);
  const settle = () => {
    setDoing(null);
    const look = () => {
      for (const key of ['keys', 'identities']) void queries.invalidateQueries({ queryKey: [key] });
    };
    look();
    setTimeout(look, 1500); // the gateway reads its file anew within a second
  };
  const shown = (k: MadeKey) => {
    setMade(k);
    settle();
  };
  if (!ring)
    return (
      <section aria-labelledby="keys">
        <h2 id="keys">API keys</h2>
        <p className="hint">The gateway accepts no API keys. To accept them, set authn.apiKeys.file and create one with a2a-gateway keys create.</p>
      </section>
    );
  const administers = who !== undefined && may(who, 'admin');
  const [makes, revokes] = [administers && ring.api, administers && (ring.api || ring.shared)];
  const columns: Column<APIKey>[] = [
    { id: 'id', title: 'Key', width: 'minmax(110px, 1fr)', sort: (k) => k.id, cell: (k) => <code className="cut">{k.id}</code> },
    { id: 'state', title: 'State', width: '92px', sort: (k) => k.state, cell: (k) => <Badge tone={tones[k.state] ?? 'calm'}>{k.state}</Badge> },
    { id: 'subject', title: 'Caller', width: 'minmax(100px, 1fr)', sort: (k) => k.subject, cell: (k) => <span className="cut">{k.subject}{k.tenant && <span className="faint"> of {k.tenant}</span>}</span> },
    { id: 'rights', title: 'Rights', width: 'minmax(150px, 2fr)', cell: (k) => <span className="cut" title={rights(k)}>{rights(k)}</span> },
    { id: 'owner', title: 'Owner', width: 'minmax(80px, 0.8fr)', sort: (k) => k.owner ?? '', cell: (k) => <span className="cut">{k.owner}</span> },
    { id: 'created', title: 'Created', width: '96px', sort: (k) => k.created ?? '', cell: (k) => <When at={k.created} /> },
    { id: 'used', title: 'Last used', width: '96px', sort: (k) => k.used ?? '', cell: (k) => <When at={k.used} /> },
    { id: 'expires', title: 'Expires', width: '96px', sort: (k) => k.expires ?? '9', cell: (k) => (k.expires ? <When at={k.expires} /> : <span className="faint">never</span>) },
  ];
  if (revokes)
    columns.push({
      id: 'do',
      title: '',
      width: '72px',
      cell: (k) => (
        <span className="actions">
          {makes && k.state === 'active' && (
            <button type="button" className="icon" aria-label={`Rotate ${k.id}`} title="Rotate" onClick={() => setDoing({ what: 'rotate', key: k })}>
              <RotateCw size={13} aria-hidden />
            </button>
          )}
          {k.state !== 'revoked' && (
            <button type="button" className="icon" aria-label={`Revoke ${k.id}`} title="Revoke" onClick={() => setDoing({ what: 'revoke', key: k })}>
              <Trash2 size={13} aria-hidden />
            </button>
          )}
        </span>
      ),
    });
  return (
    <section aria-labelledby="keys">
      <div className="head">
        <h2 id="keys">API keys</h2>
        <span className="count" role="status">
          {q ? `${whole(rows.length)}${list.hasNextPage ? ' or more' : ''} of ` : ''}
          {count(ring.keys, 'key')}
        </span>
        {makes && (
          <div className="actions">
            <button type="button" onClick={() => setDoing({ what: 'make' })}>
              <Plus size={13} aria-hidden /> Create a key
            </button>
          </div>
        )}
      </div>
      <p className="hint">
        Callers send them in {ring.header}
        {ring.bearer && ' or as bearer tokens'}. The gateway keeps their hashes in <code>{ring.file}</code>. Last used is as this gateway has seen it.{' '}
        {!ring.api && 'Create and rotate them with a2a-gateway keys, or set authn.apiKeys.api to do it here.'}
      </p>
      <div className="bar">
        <Find q={q} onFind={(text) => void go({ search: text ? { q: text } : {}, replace: true, resetScroll: false })} />
      </div>
      {list.isError && <Trouble error={list.error} again={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && rows.length === 0 && <Empty title={q ? 'No key matches' : 'No API keys yet'}>{q ? 'No id, caller, tenant or owner contains this. Clear the search to see all keys.' : makes ? 'Create one with the button above.' : <>Create one with <code>a2a-gateway keys create</code>.</>}</Empty>}
      {rows.length > 0 && <Table label="API keys" rows={rows} columns={columns} name={(k) => k.id} initial="id" height={440} least={1040} />}
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
      {doing?.what === 'make' && <Make onMade={shown} onClose={() => setDoing(null)} />}
      {doing?.what === 'rotate' && <Rotate of={doing.key} onMade={shown} onClose={() => setDoing(null)} />}
      {doing?.what === 'revoke' && <Revoke of={doing.key} ring={ring} onDone={settle} onClose={() => setDoing(null)} />}
      {made && <Shown of={made} onClose={() => setMade(null)} />}
    </section>
  );
}

/** Find asks once somebody stops typing. */
function Find({ q, onFind }: { q: string; onFind: (text: string) => void }) {
  const [text, setText] = useState(q);
  useEffect(() => {
    if (text === q) return;
    const timer = setTimeout(() => onFind(text), 250);
    return () => clearTimeout(timer);
  }, [text, q, onFind]);
  return (
    <label className="search">
      <Search size={14} aria-hidden />
      <span className="unseen">Find API keys</span>
      <input type="search" placeholder="Id, caller, tenant or owner" value={text} onChange={(e) => setText(e.target.value)} />
    </label>
  );
}

/** Shown is a key that was made: this once. */
function Shown({ of, onClose }: { of: MadeKey; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="made" onClose={onClose}>
      <h2 id="made">
        <KeyRound size={15} aria-hidden /> Key {of.id}
      </h2>
      <p>Copy it now: the gateway keeps only its hash and cannot show it again. Give it to the caller and nobody else.</p>
      <div className="raw">
        <Copy text={of.key} label="key" />
        <pre tabIndex={0} role="region" aria-label="Text of the key">
          {of.key}
        </pre>
      </div>
      {of.replaces && (
        <p>
          <code>{of.replaces}</code> stays valid until its overlap ends.
        </p>
      )}
      <div className="actions">
        <button type="button" className="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </dialog>
  );
}

const words = (text: string) => text.split(/[\s,]+/).filter((w) => w !== '');

function Make({ onMade, onClose }: { onMade: (k: MadeKey) => void; onClose: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const make = useMutation({ mutationFn: (body: unknown) => post<MadeKey>('/api/v1/keys', body), onSuccess: onMade });
  const send = (e?: FormEvent) => {
    e?.preventDefault();
    if (!form.current) return;
    const said = new FormData(form.current);
    const text = (name: string) => String(said.get(name) ?? '').trim();
    const [groups, scopes, agents] = ['groups', 'scopes', 'agents'].map((name) => words(text(name))) as [string[], string[], string[]];
    make.mutate({
      ...Object.fromEntries(['id', 'subject', 'tenant', 'owner', 'ttl'].map((name) => [name, text(name)]).filter(([, v]) => v !== '')),
      ...(groups.length > 0 && { groups }),
      ...(scopes.length > 0 && { scopes }),
      ...(agents.length > 0 && { agents }),
    });
  };
  return (
    <Confirm title="Create an API key" action="Create" busy={make.isPending} onDo={() => send()} onClose={onClose}>
      <form ref={form} className="fields" onSubmit={send}>
        <Field name="id" label="Id" hint="random by default" />
        <Field name="subject" label="Caller" hint="the id by default" />
        <Field name="owner" label="Owner" hint="who is responsible for it" />
        <Field name="tenant" label="Tenant" />
        <Field name="groups" label="Groups" hint="separated by commas" />
        <Field name="scopes" label="Scopes" hint="separated by commas" />
        <Field name="agents" label="Agents" hint="it may call; any by default" />
        <Field name="ttl" label="Expires after" hint="such as 30d; never by default" />
        <button type="submit" className="unseen" tabIndex={-1} aria-hidden>
          Create
        </button>
      </form>
      {make.isError && <Trouble error={make.error} />}
    </Confirm>
  );
}

function Field({ name, label, hint, value }: { name: string; label: string; hint?: string; value?: string }) {
  return (
    <label>
      {label} {hint && <span className="hint">{hint}</span>}
      <input name={name} defaultValue={value} autoComplete="off" spellCheck={false} />
    </label>
  );
}

function Rotate({ of, onMade, onClose }: { of: APIKey; onMade: (k: MadeKey) => void; onClose: () => void }) {
  const [hours, setHours] = useState('24');
  const rotate = useMutation({
    mutationFn: () => ask<MadeKey>('POST', `/api/v1/keys/${encodeURIComponent(of.id)}/rotate?overlap=${encodeURIComponent(hours)}`),
    onSuccess: onMade,
  });
  return (
    <Confirm title={`Rotate ${of.id}?`} action="Rotate" busy={rotate.isPending} onDo={() => rotate.mutate()} onClose={onClose}>
      <p>The gateway creates a new key for {of.subject} with the same rights. The audit log records that you did it.</p>
      <label className="hint">
        The old one stays valid for <input type="number" min={0} max={8760} value={hours} onChange={(e) => setHours(e.target.value)} /> hours
      </label>
      {rotate.isError && <Trouble error={rotate.error} />}
    </Confirm>
  );
}

function Revoke({ of, ring, onDone, onClose }: { of: APIKey; ring: NonNullable<Identities['apiKeys']>; onDone: () => void; onClose: () => void }) {
  const revoke = useMutation({ mutationFn: () => ask('DELETE', `/api/v1/keys/${encodeURIComponent(of.id)}`), onSuccess: onDone });
  return (
    <Confirm title={`Revoke ${of.id}?`} action="Revoke" danger busy={revoke.isPending} onDo={() => revoke.mutate()} onClose={onClose}>
      <p>
        Within a second {ring.shared ? 'every gateway that shares this state refuses' : 'the gateways that read this file refuse'} calls of {of.subject} with this key, and end their streams. You cannot undo this. The audit log records that
        you did it.
      </p>
      {revoke.isError && <Trouble error={revoke.error} />}
    </Confirm>
  );
}

const month = 30 * 86_400_000;

function until(at: string): ReactNode {
  const left = Date.parse(at) - Date.now();
  return left < 0 ? <Badge tone="bad">expired</Badge> : left < month ? <Badge tone="warn">expires soon</Badge> : <Badge tone="good">valid</Badge>;
}

function Certificates({ of }: { of: Identities }) {
  const c = of.certificates;
  return (
    <section aria-labelledby="certificates" tabIndex={0}>
      <h2 id="certificates">Client certificates</h2>
      {c ? (
        <p className="hint">
          The caller is the {c.names.join(' or ')} name of the certificate.{' '}
          {c.trustDomains.length > 0 && `The gateway accepts SPIFFE IDs of ${c.trustDomains.join(', ')}. `}
          {c.identities > 0 ? `${count(c.identities, 'entry lists', 'entries list')} the accepted names (authn.mtls.identities); the gateway refuses others.` : 'The gateway accepts every name that a CA below has signed.'}
        </p>
      ) : (
        <p className="hint">The gateway does not identify callers by certificate. To do so, set authn.mtls. Tokens can be bound to a certificate without it.</p>
      )}
      {of.authorities.length === 0 ? (
        <p className="hint">No CA verifies client certificates. Set server.tls.clientCA.</p>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">CA</th>
              <th scope="col">Expires</th>
              <th scope="col">Serial</th>
            </tr>
          </thead>
          <tbody>
            {of.authorities.map((a) => (
              <tr key={a.subject + a.serial}>
                <th scope="row">{a.subject}</th>
                <td>
                  {until(a.notAfter)} <When at={a.notAfter} />
                </td>
                <td>
                  <code>{a.serial}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
