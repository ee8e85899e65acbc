import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { type Explanation, post, type Question } from '../api/client';
import { methods } from './filters';
import { near, useAgents, useIssuers, useSkills } from './known';
import { Badge, Empty, Loading, Trouble } from './state';

const words = ['agent', 'method', 'skill', 'subject', 'issuer', 'groups', 'scopes', 'client', 'tenant', 'acr', 'source', 'extensions'] as const;
type Word = (typeof words)[number];

/** Asked is the part of a question that an address may have: claims and messages are nobody's to send around. */
export type Asked = { [w in Word]?: string };

export function askedOf(s: Record<string, unknown>): Asked {
  const a: Asked = {};
  for (const w of words) {
    const v = s[w];
    if (typeof v === 'string' && v !== '') a[w] = v;
    if (typeof v === 'number') a[w] = String(v);
  }
  return a;
}

const many = (text: string | undefined) => (text ?? '').split(/[\s,]+/).filter((t) => t !== '');

function questionOf(a: Asked, rest: Rest): Question {
  const claims = rest.claims.trim() === '' ? undefined : (JSON.parse(rest.claims) as Record<string, unknown>);
  const caller = a.subject && {
    subject: a.subject,
    ...(a.issuer && { issuer: a.issuer }),
    ...(many(a.groups).length > 0 && { groups: many(a.groups) }),
    ...(many(a.scopes).length > 0 && { scopes: many(a.scopes) }),
    ...(a.client && { client: a.client }),
    ...(a.tenant && { tenant: a.tenant }),
    ...(a.acr && { acr: a.acr }),
    ...(claims && { claims }),
  };
  return {
    agent: a.agent ?? '',
    ...(a.method && { method: a.method }),
    ...(a.skill && { skill: a.skill }),
    ...(caller && { caller }),
    ...(many(a.extensions).length > 0 && { extensions: many(a.extensions) }),
    ...(a.source && { source: a.source }),
    ...(rest.message.trim() !== '' && { message: JSON.parse(rest.message) as unknown }),
  } as Question;
}

interface Rest {
  claims: string;
  message: string;
}

const fields: { name: Word; label: string; hint: string; required?: boolean }[] = [
  { name: 'agent', label: 'Agent', hint: 'its id', required: true },
  { name: 'skill', label: 'Skill', hint: 'as in the path' },
  { name: 'method', label: 'Method', hint: 'SendMessage' },
  { name: 'subject', label: 'Caller', hint: 'no credential' },
  { name: 'issuer', label: 'Issuer', hint: 'the only one by default' },
  { name: 'groups', label: 'Groups', hint: 'separated by spaces' },
  { name: 'scopes', label: 'Scopes', hint: 'separated by spaces' },
  { name: 'client', label: 'Client', hint: 'OAuth client ID' },
  { name: 'tenant', label: 'Tenant', hint: 'none' },
  { name: 'acr', label: 'Sign-in (acr)', hint: 'none' },
  { name: 'source', label: 'Source', hint: 'IP address' },
  { name: 'extensions', label: 'Extensions', hint: 'requested URIs' },
];

/** json says of a text that is to be a JSON object what is wrong with it. */
function json(text: string): string {
  if (text.trim() === '') return '';
  try {
    const v: unknown = JSON.parse(text);
    return typeof v === 'object' && v !== null && !Array.isArray(v) ? '' : 'must be a JSON object, in {}';
  } catch (e) {
    return `must be JSON: ${e instanceof Error ? e.message : String(e)}`;
  }
}

/** Explain asks what would become of a call, and shows why. */
export function Explain({ of, onAsk }: { of: Asked; onAsk: (a: Asked) => void }) {
  const [rest, setRest] = useState<Rest>({ claims: '', message: '' });
  const [wrong, setWrong] = useState<{ [k in keyof Rest]?: string }>({});
  const [typed, setTyped] = useState(of.agent ?? '');
  const id = useId();
  const agents = useAgents();
  const known: { [w in Word]?: string[] } = { agent: near(agents, typed), skill: useSkills(typed.trim()), method: methods, issuer: useIssuers() };
  const found = useQuery({
    queryKey: ['explain', of, rest],
    queryFn: () => post<Explanation>('/api/v1/policy/explain', questionOf(of, rest)),
    enabled: Boolean(of.agent),
    refetchInterval: false,
  });
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const more = { claims: String(form.get('claims')), message: String(form.get('message')) };
    const faults = { claims: json(more.claims), message: json(more.message) };
    setWrong(faults);
    if (faults.claims || faults.message) return;
    const next = askedOf(Object.fromEntries([...form].map(([k, v]) => [k, String(v).trim()])));
    const same = JSON.stringify(next) === JSON.stringify(of) && JSON.stringify(more) === JSON.stringify(rest);
    setRest(more);
    onAsk(next);
    if (same) void found.refetch(); // rules may have changed meanwhile
  };
  return (
    <>
      <p className="hint">
        This runs the gateway’s own policy code with the rules and cards in force, without a call: it asks no external authorizer and counts nothing. <code>a2a-gateway explain</code>{' '}
        gives the same answer.
      </p>
      <form className="ask" onSubmit={submit} aria-label="Call">
        {fields.map((f) => (
          <label key={`${f.name}-${of[f.name] ?? ''}`}>
            {f.label}
            <input
              name={f.name}
              defaultValue={of[f.name] ?? ''}
              placeholder={f.hint}
              required={f.required}
              autoComplete="off"
              spellCheck={false}
              {...(known[f.name] && { list: `${id}-${f.name}` })}
              {...(f.name === 'agent' && { onInput: (e: FormEvent<HTMLInputElement>) => setTyped(e.currentTarget.value) })}
            />
            {known[f.name] && (
              <datalist id={`${id}-${f.name}`}>
                {known[f.name]?.map((v) => (
                  <option key={v} value={v} />
                ))}
              </datalist>
            )}
          </label>
        ))}
        <Text name="claims" label="Claims" hint='{"department": "finance"}' wrong={wrong.claims} />
        <Text name="message" label="Message" hint='{"parts": [{"text": "refund order 12"}]}' wrong={wrong.message} />
        <div className="actions">
          <button type="submit" className="primary">
            Explain
          </button>
        </div>
      </form>
      {!of.agent ? (
        <Empty title="Which call?">Enter an agent and a caller, then choose Explain. Without a caller, the call carries no credential.</Empty>
      ) : found.isError ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : found.data ? (
        <Answer of={found.data} />
      ) : (
        <Loading />
      )}
    </>
  );
}

function Text({ name, label, hint, wrong }: { name: string; label: string; hint: string; wrong: string | undefined }) {
  return (
    <label className="wide">
      {label}
      <textarea name={name} rows={2} placeholder={hint} spellCheck={false} {...(wrong && { 'aria-invalid': true, 'aria-describedby': `${name}-wrong` })} />
      {wrong && (
        <span className="bad" id={`${name}-wrong`} role="alert">
          {label} {wrong}
        </span>
      )}
    </label>
  );
}

const tones = { allowed: 'good', denied: 'bad', refused: 'warn' } as const;
const deciders: Record<string, string> = {
  default: 'policy.default: no rule that would decide matches',
  credential: 'the credential',
  undeclared: 'policy.skills.undeclared',
  'skill-scopes': 'policy.skills.scopes',
};

function Answer({ of: e }: { of: Explanation }) {
  const shown = (list: string[] | undefined) => (list && list.length > 0 ? list.join(', ') : undefined);
  const known: [string, string | undefined][] = [
    ['Reason', e.reason],
    ['Error to the caller', e.error],
    ['Skill', [e.skill.id, e.skill.why].filter(Boolean).join(': ')],
    ['Missing scopes', shown(e.missingScopes)],
    ['Step-up required', e.stepUp && [e.stepUp.acr && `acr ${e.stepUp.acr.join(' or ')}`, e.stepUp.amr && `amr ${e.stepUp.amr.join(' and ')}`, e.stepUp.maxAge && `at most ${e.stepUp.maxAge} ago`].filter(Boolean).join(', ')],
    ['Consented to', shown(e.consent)],
    ['Waits for', e.approvals?.map((a) => a.asks).join('; ')],
    ['Allowed for the skills', shown(e.skills)],
    ['Agent visible to the caller', e.visible ? 'yes' : 'no'],
    ['Shadow rules', shown(e.shadow)],
    ['Shared by', e.sharing],
    ['Rules that failed to evaluate', shown(e.faults)],
    ['External authorizers', shown(e.authorizers)],
  ];
  return (
    <div aria-live="polite">
      <section aria-label="Decision">
        <div className="head">
          <Badge tone={tones[e.verdict as keyof typeof tones] ?? 'warn'}>{e.verdict}</Badge>
          <h2>
            {e.method} on <Link to="/agents/$id" params={{ id: e.agent }}>{e.agent}</Link> by {e.caller.issuer === 'anonymous' ? 'a caller without a credential' : `${e.caller.subject} of ${e.caller.issuer}`}
          </h2>
        </div>
        <dl className="facts bare">
          {e.rule && (
            <div>
              <dt>Decided by</dt>
              <dd>
                {deciders[e.rule] ?? (
                  <Link to="/policy" search={{ rule: e.rule }}>
                    {e.rule}
                  </Link>
                )}
              </dd>
            </div>
          )}
          {known.map(
            ([k, v]) =>
              v && (
                <div key={k}>
                  <dt>{k}</dt>
                  <dd>{v}</dd>
                </div>
              ),
          )}
        </dl>
        {e.notes?.map((n) => (
          <p key={n} className="hint">
            Note: {n}
          </p>
        ))}
      </section>
      <section aria-label="Rules evaluated" tabIndex={0}>
        <h2>Rules evaluated</h2>
        {e.rules && e.rules.length > 0 ? (
          <Steps of={e} />
        ) : (
          <p className="hint">No rule was evaluated.</p>
        )}
      </section>
      {e.limits && e.limits.length > 0 && (
        <section aria-label="Limits" tabIndex={0}>
          <h2>Limits that apply</h2>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">Limit</th>
                <th scope="col">Kind</th>
                <th scope="col">Maximum</th>
                <th scope="col">Counted per</th>
              </tr>
            </thead>
            <tbody>
              {e.limits.map((l) => (
                <tr key={l.limit + l.what}>
                  <td>
                    {l.limit} {l.shadow && <Badge tone="warn">shadow</Badge>}
                  </td>
                  <td>{l.what}</td>
                  <td>
                    {l.units}
                    {l.window && ` per ${l.window}`}
                    {l.cost !== undefined && l.cost !== 1 && `, this call costs ${l.cost}`}
                  </td>
                  <td>{l.key || 'all callers together'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {e.extensions && e.extensions.length > 0 && (
        <section aria-label="Extensions" tabIndex={0}>
          <h2>Extensions in such a call</h2>
          <table className="plain">
            <tbody>
              {e.extensions.map((x) => (
                <tr key={x.uri}>
                  <td>
                    <code>{x.uri}</code>
                  </td>
                  <td>{x.standing}</td>
                  <td>{x.why.join('; ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

const most = 200; // rules that are shown; those that match come first

function Steps({ of: e }: { of: Explanation }) {
  const all = [...(e.rules ?? [])].sort((a, b) => Number(b.matches) - Number(a.matches));
  return (
    <>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Effect</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, most).map((s) => (
            <tr key={s.rule}>
              <td>
                <Link to="/policy" search={{ rule: s.rule }} className={s.rule === e.rule ? 'strong' : undefined}>
                  {s.rule}
                </Link>
              </td>
              <td>
                <Badge tone={s.effect === 'deny' ? 'bad' : s.effect === 'allow' ? 'good' : 'calm'}>{s.effect || 'extensions'}</Badge> {s.shadow && <Badge tone="warn">shadow</Badge>}
              </td>
              <td>{s.matches ? (s.skills ? `matches for ${s.skills.join(', ')}` : 'matches') : <span className="faint">does not match: {s.failed}</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length > most && <p className="hint">{all.length - most} further rules do not match.</p>}
    </>
  );
}
