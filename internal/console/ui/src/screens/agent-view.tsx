import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { type CardView, type Explanation, post } from '../api/client';
import { Diff } from '../parts/diff';
import { type Rule, rulesInForce, summary } from '../parts/rules';
import { Badge, Empty, Loading, Trouble } from '../parts/state';

/** Claimed is a caller as somebody makes one up. */
interface Claimed {
  subject: string;
  issuer?: string;
  groups?: string[];
  scopes?: string[];
}

const many = (text: string) => text.split(/[\s,]+/).filter((t) => t !== '');

/** fits is what a * means in a rule. */
const fits = (pattern: string, name: string) =>
  new RegExp(`^${pattern.split('*').map((p) => p.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('[^]*')}$`).test(name);

const names = (rule: Rule, member: string, name: string) => {
  const list = rule[member];
  return list === undefined || (Array.isArray(list) && list.some((p) => typeof p === 'string' && fits(p, name)));
};

const fields = [
  ['subject', 'Caller', 'no credential'],
  ['issuer', 'Issuer', 'the only one by default'],
  ['groups', 'Groups', 'separated by spaces'],
  ['scopes', 'Scopes', 'separated by spaces'],
] as const;

/** Skills says which rules are about each, and what becomes of a call of somebody. */
export function Skills({ agent, skills, standing }: { agent: string; skills: { id: string; text: string; tags: string }[]; standing: unknown }) {
  const [who, setWho] = useState<Claimed | null | undefined>(undefined); // null for nobody
  const rules = useQuery({ queryKey: ['rules'], queryFn: rulesInForce });
  const about = useMemo(() => rules.data?.rules.filter((r) => r.effect !== undefined && names(r, 'agents', agent)) ?? [], [rules.data, agent]);
  const view = useQuery({
    queryKey: ['view', agent, who],
    queryFn: () => post<CardView>(`/api/v1/cards/${encodeURIComponent(agent)}/view`, who ? { caller: who } : {}),
    enabled: who !== undefined,
    refetchInterval: false,
  });
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const word = (k: string) => String(form.get(k) ?? '').trim();
    setWho(
      word('subject') === ''
        ? null
        : {
            subject: word('subject'),
            ...(word('issuer') && { issuer: word('issuer') }),
            ...(word('groups') && { groups: many(word('groups')) }),
            ...(word('scopes') && { scopes: many(word('scopes')) }),
          },
    );
  };
  return (
    <section aria-label="Skills and who may use them">
      <div className="head">
        <h2>Skills and who may use them</h2>
      </div>
      <p className="hint">
        A deny rule that matches wins, then an allow rule, then the default: {rules.data?.default ?? '…'}. Enter a caller to see what they may do here and the card that they get. No call is made, and no credential is needed.
      </p>
      <form className="who" onSubmit={submit} aria-label="View as caller">
        {fields.map(([name, label, hint]) => (
          <label key={name}>
            {label}
            <input name={name} placeholder={hint} autoComplete="off" spellCheck={false} />
          </label>
        ))}
        <button type="submit" className="primary">
          See as this caller
        </button>
      </form>
      {rules.isError && <Trouble error={rules.error} again={() => void rules.refetch()} />}
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Skill</th>
            <th scope="col">Description</th>
            <th scope="col">Rules</th>
            {who !== undefined && <th scope="col">{who ? who.subject : 'Without a credential'}</th>}
          </tr>
        </thead>
        <tbody>
          {skills.map((s) => (
            <tr key={s.id}>
              <td>
                <code>{s.id}</code>
              </td>
              <td>
                {s.text} {s.tags && <span className="faint">{s.tags}</span>}
              </td>
              <td>
                <About rules={about.filter((r) => names(r, 'skills', s.id))} usual={rules.data?.default} />
              </td>
              {who !== undefined && (
                <td>
                  {view.data?.stranger ? <span className="faint">none: calls need a credential</span> : view.data && <May agent={agent} skill={s.id} who={who} />}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {skills.length === 0 && <p className="hint">The card lists no skills.</p>}
      {who !== undefined && <Seen view={view} who={who} standing={standing} />}
    </section>
  );
}

function About({ rules, usual }: { rules: Rule[]; usual: string | undefined }) {
  if (rules.length === 0) return <span className="faint">none: {usual}</span>;
  return (
    <span className="rules">
      {rules.slice(0, 12).map((r) => (
        <span key={r.name}>
          <Link to="/policy" search={{ rule: r.name }} className={r.effect === 'deny' ? 'denies' : undefined}>
            {r.name} <span className="faint">{r.mode === 'shadow' ? 'in shadow' : r.effect === 'deny' ? 'denies' : r.effect === 'approve' ? 'needs approval' : 'allows'}</span>
          </Link>{' '}
          <span className="hint">{summary(r, 'agents', 'skills')}</span>
        </span>
      ))}
      {rules.length > 12 && (
        <Link to="/policy" className="hint">
          and {rules.length - 12} more
        </Link>
      )}
    </span>
  );
}

const tones = { allowed: 'good', denied: 'bad', refused: 'warn' } as const;

function May({ agent, skill, who }: { agent: string; skill: string; who: Claimed | null }) {
  const found = useQuery({
    queryKey: ['may', agent, skill, who],
    queryFn: () => post<Explanation>('/api/v1/policy/explain', { agent, skill, ...(who && { caller: who }) }),
    refetchInterval: false,
  });
  if (found.isError) return <span className="faint">{found.error.message}</span>;
  if (!found.data) return <span className="faint">…</span>;
  const e = found.data;
  return (
    <>
      <Badge tone={tones[e.verdict as keyof typeof tones] ?? 'warn'}>{e.verdict}</Badge>{' '}
      <Link
        to="/policy"
        search={{ view: 'explain', agent, skill, ...(who && { subject: who.subject, ...(who.issuer && { issuer: who.issuer }), ...(who.groups && { groups: who.groups.join(' ') }), ...(who.scopes && { scopes: who.scopes.join(' ') }) }) }}
      >
        Why<span className="unseen"> {skill} is {e.verdict}</span>
      </Link>
    </>
  );
}

/** FormOf says which members the card has: the view is that of a request that names A2A 1.0. */
function FormOf({ card }: { card: CardView }) {
  return (
    <p className="hint">
      Form {card.form}: {card.form === 'mixed' ? 'the members of A2A 0.3 and 1.0 beside each other' : `the members of A2A ${card.form} alone`}. Requests that name A2A 1.0 get it so; <code>agents[].card.form</code> says what others get.
    </p>
  );
}

function Seen({ view, who, standing }: { view: UseQueryResult<CardView>; who: Claimed | null; standing: unknown }) {
  const name = who ? who.subject : 'a caller without a credential';
  return (
    <>
      <h3>The card as {name} gets it</h3>
      {view.isError ? (
        <Trouble error={view.error} again={() => void view.refetch()} />
      ) : !view.data ? (
        <Loading />
      ) : !view.data.visible ? (
        <Empty title="No card for this caller">The gateway answers {name} that this agent does not exist. A rule that allows a call makes it visible.</Empty>
      ) : (
        <>
          <FormOf card={view.data} />
          <Diff left={standing} right={view.data.card} names={['The agent’s own', `What ${name} gets`]} />
        </>
      )}
    </>
  );
}
