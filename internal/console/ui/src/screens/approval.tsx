import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { type ApprovalDetail, Failure, get, type Me, post } from '../api/client';
import { size } from '../parts/amount';
import { moves, says, State } from '../parts/approval';
import { Confirm } from '../parts/confirm';
import { Copy, Digest } from '../parts/copy';
import { exactly } from '../parts/json';
import { legible } from '../parts/legible';
import { type Piece, piecesOf } from '../parts/message';
import { Empty, Loading, Trouble } from '../parts/state';
import { local, When } from '../parts/time';

const route = getRouteApi('/approvals/$id');

const longestReason = 500; // bytes

const signedIn: Record<string, string> = { token: 'a token of the gateway', oidc: 'a token of the identity provider', session: 'a session in the browser', agent: 'an answer of the agent' };

export function ApprovalScreen() {
  const { id } = route.useParams();
  const path = `/api/v1/approvals/${encodeURIComponent(id)}`;
  const found = useQuery({
    queryKey: ['approval', id],
    queryFn: () => get<ApprovalDetail>(path, exactly),
    refetchInterval: (q) => (q.state.data === undefined || q.state.data.state === 'waiting' ? 3_000 : moves(q.state.data.state) ? 1_000 : false),
    structuralSharing: false, // it would take numbers apart that are kept as they were written
  });
  const d = found.data;
  return (
    <>
      <p className="path">
        <Link to="/approvals">Approvals</Link> / <span>call</span>
      </p>
      {d ? <Call of={d} path={path} /> : <h1>Call</h1>}
      {found.isPending && <Loading />}
      {found.error instanceof Failure && found.error.code === 'NO_SUCH_APPROVAL' ? (
        <Empty title="There is no such call">
          No call with the id <code>{id}</code> waits for approval. The gateway forgets calls that nobody agreed to after <code>policy.approvals.keep</code>.
        </Empty>
      ) : (
        found.isError && <Trouble error={found.error} again={() => void found.refetch()} />
      )}
      {d && (
        <>
          <Facts of={d} />
          <Agreed of={d} />
          <Asked of={d} />
          <Message params={d.params} />
        </>
      )}
    </>
  );
}

type What = 'approve' | 'reject';

/** subject is who somebody is to approvers of a rule: tokens have a name, people one at their provider. */
const subject = (who: Me) => (who.name.includes('@') ? who.name.slice(0, who.name.lastIndexOf('@')) : who.name);

/** Call is what a call is, where it stands, and what you may do about it. */
function Call({ of: d, path }: { of: ApprovalDetail; path: string }) {
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [asked, setAsked] = useState<{ what: What; digest: string } | null>(null); // with what was shown then
  const [reason, setReason] = useState('');
  const decide = useMutation({
    mutationFn: ({ what, digest }: { what: What; digest: string }) => post(`${path}/${what}`, { digest, ...(what === 'reject' && reason.trim() !== '' && { reason: reason.trim() }) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['approval', d.id] });
      setAsked(null);
      document.getElementById('main')?.focus(); // the buttons may be gone
    },
    onError: () => queries.invalidateQueries({ queryKey: ['approval', d.id] }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  const ask = (what: What) => {
    decide.reset();
    setReason('');
    setAsked({ what, digest: d.digest });
  };
  const waits = d.state === 'waiting';
  const yours = waits && d.may && who !== undefined && !who.readOnly;
  const agreed = who !== undefined && d.votes.some((v) => v.by === subject(who));
  const bytes = new TextEncoder().encode(reason.trim()).length;
  const agent = legible(d.agent);
  return (
    <>
      <div className="head">
        <h1>
          {d.method} to {agent}
        </h1>
        <span role="status">
          <State of={d.state} />
        </span>
        {yours && (
          <div className="actions">
            {!agreed && (
              <button type="button" className="primary" onClick={() => ask('approve')}>
                Approve
              </button>
            )}
            <button type="button" className="danger" onClick={() => ask('reject')}>
              Reject
            </button>
          </div>
        )}
      </div>
      {yours && agreed && <div className="banner">You have agreed. The call waits for others.</div>}
      {waits && !d.may && <div className="banner">You may not decide about this call{d.mayNot && `: ${d.mayNot}`}.</div>}
      {waits && d.may && who?.readOnly && <div className="banner">You cannot decide about this call here: admin.readOnly is set in the configuration.</div>}
      {asked?.what === 'approve' && (
        <Confirm title="Approve this call?" action="Approve" busy={decide.isPending} onDo={() => decide.mutate(asked)} onClose={() => setAsked(null)}>
          <p>
            The gateway sends it to {agent} once enough people have agreed. You cannot undo this. The audit log records that you agreed to exactly what is shown here: <Digest of={asked.digest} />
          </p>
          {decide.isError && <Trouble error={decide.error} />}
        </Confirm>
      )}
      {asked?.what === 'reject' && (
        <Confirm title="Reject this call?" action="Reject" danger busy={decide.isPending || bytes > longestReason} onDo={() => decide.mutate(asked)} onClose={() => setAsked(null)}>
          <p>The gateway does not send it to {agent}, and tells the caller. You cannot undo this. The audit log records that you did it.</p>
          <label htmlFor="reason">Reason</label>
          <textarea id="reason" rows={3} value={reason} onChange={(e) => setReason(e.target.value)} aria-describedby="reason-hint" aria-invalid={bytes > longestReason} />
          <p id="reason-hint" className={bytes > longestReason ? 'bad' : 'hint'}>
            The caller is told the reason. {bytes} of {longestReason} bytes
          </p>
          {decide.isError && <Trouble error={decide.error} />}
        </Confirm>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Moment({ at }: { at: string }) {
  return (
    <>
      {local(new Date(at))}
      <div className="hint">
        <When at={at} />
      </div>
    </>
  );
}

function Facts({ of: d }: { of: ApprovalDetail }) {
  return (
    <dl className="facts">
      <Fact name="State">
        {d.state}
        {d.by && ` by ${d.by}`}
        {d.decided && (
          <>
            , <When at={d.decided} />
          </>
        )}
        <div className="hint">{d.why ? legible(d.why) : says(d.state)}</div>
      </Fact>
      <Fact name="Caller">
        {legible(d.caller)}
        <div className="hint">{d.issuer}</div>
      </Fact>
      {d.client && <Fact name="Client">{legible(d.client)}</Fact>}
      {d.tenant && <Fact name="Tenant">{legible(d.tenant)}</Fact>}
      <Fact name="Agent">
        <Link to="/agents/$id" params={{ id: d.agent }}>
          {d.agent}
        </Link>
        {d.about.agent && <div className="hint">{legible(d.about.agent)}</div>}
      </Fact>
      <Fact name="Skill">
        {d.skill ? <code>{legible(d.skill)}</code> : <span className="faint">none named</span>}
        {d.about.skill && <div>{legible(d.about.skill)}</div>}
        {d.about.description && <div className="hint">{legible(d.about.description)}</div>}
      </Fact>
      <Fact name="Protocol">
        A2A {d.version}, {d.binding}
        <div className="hint">{d.method}</div>
      </Fact>
      <Fact name="Came">
        <Moment at={d.created} />
      </Fact>
      <Fact name="Expires">
        <Moment at={d.expires} />
      </Fact>
      <Fact name="Context">
        <Link to="/audit" search={{ context: d.context }}>
          <code>{legible(d.context)}</code>
        </Link>
      </Fact>
      <Fact name="Task shown to the caller">
        <code>{d.id}</code> <Copy text={d.id} label="task of the caller" />
      </Fact>
      {d.task && (
        <Fact name="Task of the agent">
          <Link to="/tasks/$id" params={{ id: d.task }}>
            <code>{legible(d.task)}</code>
          </Link>
        </Fact>
      )}
      <Fact name="SHA-256 of the call">
        <Digest of={d.digest} />
      </Fact>
    </dl>
  );
}

/** Agreed is who has to agree, and who has. */
function Agreed({ of: d }: { of: ApprovalDetail }) {
  return (
    <section aria-label="Who has to agree" tabIndex={0}>
      <div className="head">
        <h2>Who has to agree</h2>
      </div>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Approvers</th>
            <th scope="col">Agreed</th>
          </tr>
        </thead>
        <tbody>
          {d.rules.map((r) => (
            <tr key={r.name}>
              <td>
                <Link to="/policy" search={{ rule: r.name }}>
                  {r.name}
                </Link>
              </td>
              <td>{r.asks}</td>
              <td>
                {r.agreed} of {r.count}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {d.votes.length === 0 ? (
        <p className="hint">Nobody has agreed.</p>
      ) : (
        <table className="plain below">
          <thead>
            <tr>
              <th scope="col">Who has agreed</th>
              <th scope="col">Signed in with</th>
              <th scope="col">When</th>
              <th scope="col">For rules</th>
            </tr>
          </thead>
          <tbody>
            {d.votes.map((v) => (
              <tr key={v.by}>
                <td>{legible(v.by)}</td>
                <td>{signedIn[v.method] ?? v.method}</td>
                <td>
                  <When at={v.at} />
                </td>
                <td>{v.rules.join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Asked is which agents are asked, and what they say. */
function Asked({ of: d }: { of: ApprovalDetail }) {
  if (d.agents === undefined || d.agents.length === 0) return null;
  return (
    <section aria-label="Agents that are asked" tabIndex={0}>
      <div className="head">
        <h2>Agents that are asked</h2>
        <span className="hint">a model may say what the message has told it to</span>
      </div>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Its answer</th>
            <th scope="col">Says</th>
            <th scope="col">Reason</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {d.agents.map((a) => (
            <tr key={a.agent}>
              <td>
                <Link to="/agents/$id" params={{ id: a.agent }}>
                  {a.agent}
                </Link>
              </td>
              <td>{a.decides ? 'decides' : 'is advice'}</td>
              <td>{a.decision ?? <span className="faint">nothing yet</span>}</td>
              <td>{a.why ?? (a.reason !== undefined && legible(a.reason))}</td>
              <td>{a.at && <When at={a.at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const json = (v: unknown) => JSON.stringify(v, null, 2);

/** Message is what the call says: for reading first, and then all of it as it came. */
function Message({ params }: { params: unknown }) {
  const pieces = useMemo(() => piecesOf(params), [params]);
  if (params === undefined)
    return (
      <section aria-label="Message">
        <div className="head">
          <h2>Message</h2>
        </div>
        <p className="hint">
          You may not see the message. Those who may approve the call see it, and operators if <code>admin.content</code> is true.
        </p>
      </section>
    );
  return (
    <>
      <section aria-label="Message">
        <div className="head">
          <h2>Message</h2>
        </div>
        <p className="hint">As the caller wrote it. Characters that cannot be seen are escaped.</p>
        <div className="words">
          {pieces.map((p, i) => (
            <PieceOf key={i} piece={p} number={i + 1} />
          ))}
        </div>
        {pieces.length === 0 && <p className="hint">The message has no parts.</p>}
      </section>
      <section aria-label="Parameters">
        <div className="head">
          <h2>Parameters</h2>
          <span className="hint">the whole call, with what is not shown above</span>
        </div>
        <div className="raw">
          <Copy text={json(params)} label="parameters" />
          <pre tabIndex={0} role="region" aria-label="Parameters as JSON">
            {legible(json(params))}
          </pre>
        </div>
      </section>
    </>
  );
}

function PieceOf({ piece: p, number }: { piece: Piece; number: number }) {
  if (p.kind === 'text')
    return (
      <p>
        <strong>text</strong> <span>{legible(p.text) || '–'}</span>
      </p>
    );
  if (p.kind === 'file')
    return (
      <p>
        <strong>file</strong>{' '}
        <span>
          {legible(p.name) || 'without a name'} · {legible(p.type) || 'no media type'} · {p.url === undefined ? size(p.bytes ?? 0) : <code>{legible(p.url)}</code>}
        </span>
      </p>
    );
  return (
    <div className="piece">
      <strong>{p.kind}</strong>
      <pre tabIndex={0} role="region" aria-label={`Part ${number}, ${p.kind}`}>
        {legible(json(p.data))}
      </pre>
    </div>
  );
}
