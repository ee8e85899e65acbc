import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Agent, ask, type CardDetail, Failure, get, type Me, may } from '../api/client';
import { Confirm } from '../parts/confirm';
import { Copy, Digest } from '../parts/copy';
import { Diff, pretty } from '../parts/diff';
import { adviceOn, health, reason, toneOf } from '../parts/health';
import { Badge, Empty, Loading, Trouble } from '../parts/state';
import { Standings } from '../parts/standings';
import { When } from '../parts/time';
import { CourseOf } from './agent-course';
import { Instances } from './agent-instances';
import { Drafted } from './agent-draft';
import { Skills } from './agent-view';
import './agent.css';
import { approvable, rejectable, tones } from '../parts/trust';

const route = getRouteApi('/agents/$id');
const severities = { info: 'calm', notice: 'warn', danger: 'bad' } as const;

export function AgentScreen() {
  const { id } = route.useParams();
  const path = encodeURIComponent(id);
  const agent = useQuery({ queryKey: ['agent', id], queryFn: () => get<Agent>(`/api/v1/agents/${path}`) });
  const card = useQuery({ queryKey: ['card', id], queryFn: () => get<CardDetail>(`/api/v1/cards/${path}`) });
  const unheard = card.error instanceof Failure && card.error.code === 'NO_SUCH_AGENT'; // it is not served, and has no card
  return (
    <>
      <p className="path">
        <Link to="/fleet">Fleet</Link> / <span>{id}</span>
      </p>
      <div className="head">
        <h1>{id}</h1>
        <div className="actions">
          <Link to="/live" search={{ agent: id }} className="button">
            Live
          </Link>
          <Link to="/streams" search={{ agent: id }} className="button">
            Streams
          </Link>
          <Link to="/audit" search={{ agent: id }} className="button">
            Audit
          </Link>
        </div>
      </div>
      {agent.isError && <Trouble error={agent.error} again={() => void agent.refetch()} />}
      {agent.isPending && <Loading />}
      {agent.data && (
        <>
          <dl className="facts">
            <Fact name="Health">
              <span className={`dot ${toneOf(health(agent.data))}`}>{health(agent.data)}</span>
            </Fact>
            <Fact name="From">
              {agent.data.origin} {agent.data.source && <code>{agent.data.source}</code>}
            </Fact>
            {agent.data.registered && (
              <Fact name="Registered">
                <When at={agent.data.registered} /> {agent.data.by && `by ${agent.data.by}`}
              </Fact>
            )}
            {card.data && (
              <>
                <Fact name="Card URL">
                  <code>{card.data.url}</code> <Copy text={card.data.url} label="address of the card" />
                </Fact>
                <Fact name="Card">
                  <Badge tone={tones[card.data.state]}>{card.data.state}</Badge> {card.data.why}
                </Fact>
                <Fact name="Served card">
                  <Digest of={card.data.digest} />
                </Fact>
                <Fact name="Card in force">
                  <Digest of={card.data.inForce} />
                </Fact>
              </>
            )}
          </dl>
          <Ailing agent={agent.data} card={card.data} />
        </>
      )}
      {agent.data?.instances && <Instances of={agent.data.instances} />}
      {agent.data && <CourseOf agent={id} />}
      {card.isError && !unheard && <Trouble error={card.error} again={() => void card.refetch()} />}
      {card.data && <Card detail={card.data} />}
      {agent.data && <Drafted key={id} of={agent.data} />}
      {agent.data?.agent !== undefined && (
        <Section title="As registered">
          <Raw value={agent.data.agent} label="registration" />
        </Section>
      )}
    </>
  );
}

/** Ailing says why calls do not reach an agent, and what to do about it. */
function Ailing({ agent, card }: { agent: Agent; card: CardDetail | undefined }) {
  const why = reason(agent) ?? card?.failure;
  if (!why) return null;
  const word = health(agent);
  return (
    <div className={toneOf(word) === 'bad' ? 'trouble' : 'banner'}>
      <div>
        <strong>{why}</strong>
        {adviceOn(word) && <p className="hint">{adviceOn(word)}</p>}
      </div>
    </div>
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

function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} tabIndex={0}>
      <div className="head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

function Raw({ value, label }: { value: unknown; label: string }) {
  const text = pretty(value);
  return (
    <div className="raw">
      <Copy text={text} label={label} />
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
    </div>
  );
}

function Card({ detail }: { detail: CardDetail }) {
  const latest = detail.history.find((e) => e.digest === detail.digest);
  const differs = detail.served !== undefined && detail.standing !== undefined && detail.digest !== detail.inForce;
  return (
    <>
      <Section title="The agent’s card" aside={<Decide detail={detail} />}>
        {differs ? (
          <>
            {latest?.changes?.length ? (
              <ul className="changes">
                {latest.changes.map((c) => (
                  <li key={`${c.kind} ${c.subject} ${c.text}`}>
                    <Badge tone={severities[c.severity]}>{c.severity}</Badge> {c.text}
                  </li>
                ))}
              </ul>
            ) : null}
            <Diff left={detail.standing} right={detail.served} names={['In force', 'Served by the agent']} />
          </>
        ) : detail.standing === undefined && detail.served === undefined ? (
          <Empty title="No card is in force">The gateway has fetched no card yet, or nobody has approved one. Callers see none either. Health says why a fetch fails.</Empty>
        ) : (
          <p className="hint">
            {detail.standing !== undefined
              ? 'The agent serves the card that is in force.'
              : 'No card is in force yet. Below is the card that the agent serves.'}
          </p>
        )}
        {latest?.findings?.length ? (
          <>
            <h3>Findings</h3>
            <ul className="changes">
              {latest.findings.map((f) => (
                <li key={f.pointer + f.kind}>
                  <Badge tone="warn">{f.action}</Badge> {f.text} <code>{f.pointer}</code>
                </li>
              ))}
            </ul>
          </>
        ) : null}
      </Section>
      <Contents agent={detail.agent} card={detail.standing ?? detail.served} />
      <Section title="Card history">
        {detail.history.length === 0 ? (
          <Empty title="None yet">The first card is listed when the agent has answered. The gateway’s log and Health say why it has not.</Empty>
        ) : (
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">Card</th>
                <th scope="col">State</th>
                <th scope="col">Seen</th>
                <th scope="col">Signature</th>
                <th scope="col">Decided by</th>
                <th scope="col">Decided</th>
              </tr>
            </thead>
            <tbody>
              {detail.history.map((e) => (
                <tr key={e.digest}>
                  <td>
                    <Digest of={e.digest} />
                  </td>
                  <td>
                    <Badge tone={tones[e.state]}>{e.state}</Badge>
                  </td>
                  <td>
                    <When at={e.seen} />
                  </td>
                  <td>{e.signature ?? <span className="faint">none</span>}</td>
                  <td>{e.by ?? <span className="faint">–</span>}</td>
                  <td>
                    <When at={e.decided} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
      {(detail.standing ?? detail.served) !== undefined && (
        <details>
          <summary>The whole card</summary>
          <Raw value={detail.standing ?? detail.served} label="card" />
        </details>
      )}
    </>
  );
}

function Decide({ detail }: { detail: CardDetail }) {
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [asked, setAsked] = useState<'approve' | 'reject' | null>(null);
  const { digest } = detail;
  const decide = useMutation({
    mutationFn: (what: string) => ask('POST', `/api/v1/cards/${encodeURIComponent(detail.agent)}/${what}?digest=${encodeURIComponent(digest ?? '')}`),
    onSuccess: () => setAsked(null),
    onSettled: () => Promise.all(['card', 'cards', 'agent'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  if (!who || !may(who, 'operator') || !digest || !(approvable(detail.state) || rejectable(detail.state))) return null;
  return (
    <div className="actions">
      {rejectable(detail.state) && (
        <button type="button" onClick={() => setAsked('reject')}>
          Reject
        </button>
      )}
      {approvable(detail.state) && (
        <button type="button" className="primary" onClick={() => setAsked('approve')}>
          Approve
        </button>
      )}
      {asked && (
        <Confirm
          title={asked === 'approve' ? 'Approve this card?' : 'Reject this card?'}
          action={asked === 'approve' ? 'Approve' : 'Reject'}
          danger={asked === 'reject'}
          busy={decide.isPending}
          onDo={() => decide.mutate(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            {asked === 'approve'
              ? 'Callers of this agent see it from now on, and the gateway enforces it.'
              : 'The card in force stays. You can still approve this one later.'}{' '}
            The audit log records your decision.
          </p>
          <p>
            <code>{digest}</code>
          </p>
          {decide.isError && <Trouble error={decide.error} />}
        </Confirm>
      )}
    </div>
  );
}

/** Declared is what the card says, in short: what the gateway makes of it is in the table. */
function Declared({ of }: { of: Doc[] }) {
  const required = of.filter((e) => e.required === true).length;
  return <span className="faint">{of.length === 0 ? 'the card declares none' : `the card declares ${of.length}, ${required === 0 ? 'none' : required} as required`}</span>;
}

type Doc = Record<string, unknown>;
const doc = (v: unknown): Doc => (v !== null && typeof v === 'object' && !Array.isArray(v) ? (v as Doc) : {});
const docs = (v: unknown): Doc[] => (Array.isArray(v) ? v.map(doc) : []);
const word = (v: unknown): string => (typeof v === 'string' ? v : '');

/** Contents are what a card says, of both versions of the protocol. */
function Contents({ agent, card }: { agent: string; card: unknown }) {
  if (card === undefined) return null;
  const c = doc(card);
  const skills = docs(c.skills);
  const interfaces = docs(c.supportedInterfaces).concat(
    c.url ? [{ url: c.url, protocolBinding: c.preferredTransport ?? 'JSONRPC', protocolVersion: c.protocolVersion }] : [],
    docs(c.additionalInterfaces).map((i): Doc => ({ url: i.url, protocolBinding: i.transport, protocolVersion: c.protocolVersion })),
  );
  const extensions = docs(doc(c.capabilities).extensions);
  return (
    <>
      <Section title={word(c.name) || 'What it says'} aside={<span className="faint">{word(c.version) && `version ${word(c.version)}`}</span>}>
        <p>{word(c.description)}</p>
      </Section>
      <Skills
        agent={agent}
        standing={card}
        skills={skills.map((s) => ({ id: word(s.id), text: word(s.description) || word(s.name), tags: Array.isArray(s.tags) ? s.tags.join(', ') : '' }))}
      />
      <div className="columns">
        <Section title="Endpoints">
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">Binding</th>
                <th scope="col">Version</th>
                <th scope="col">Address</th>
              </tr>
            </thead>
            <tbody>
              {interfaces.map((i, n) => (
                <tr key={n}>
                  <td>{word(i.protocolBinding)}</td>
                  <td>{word(i.protocolVersion)}</td>
                  <td>
                    <code>{word(i.url)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
        <Section title="Extensions" aside={<Declared of={extensions} />}>
          <Standings agent={agent} />
        </Section>
      </div>
    </>
  );
}
