import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { type Guard, type GuardTried, post } from '../api/client';
import { near, useAgents, useIssuers, useSkills } from './known';
import { Badge, Empty, Trouble } from './state';

const many = (text: string) => text.split(/[\s,]+/).filter((t) => t !== '');

/** bodyOf is the question of a form. A text that is a JSON object counts as a message where that is chosen. */
function bodyOf(form: FormData): Record<string, unknown> {
  const of = (name: string) => String(form.get(name) ?? '').trim();
  const groups = many(of('groups'));
  const caller = of('subject') && { subject: of('subject'), ...(of('issuer') && { issuer: of('issuer') }), ...(groups.length > 0 && { groups }) };
  const text = String(form.get('text') ?? '');
  return {
    agent: of('agent'),
    phase: of('phase'),
    ...(of('skill') && { skill: of('skill') }),
    ...(caller && { caller }),
    ...(of('what') === 'message' ? { message: JSON.parse(text) as unknown } : { text }),
    ...(form.get('offline') !== null && { offline: true }),
  };
}

/** TryText has the guards look at what somebody types. It is kept nowhere but in this page. */
export function TryText({ guards, agent }: { guards: Guard[]; agent: string | undefined }) {
  const [typed, setTyped] = useState(agent ?? '');
  const [wrong, setWrong] = useState('');
  const id = useId();
  const agents = useAgents();
  const known: Record<string, string[]> = { agent: near(agents, typed), skill: useSkills(typed.trim()), issuer: useIssuers() };
  const tried = useMutation({ mutationFn: (body: Record<string, unknown>) => post<GuardTried>('/api/v1/guards/try', body), gcTime: 0 });
  const asking = guards.filter((g) => g.settings.service !== undefined).map((g) => g.name);
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    try {
      const body = bodyOf(new FormData(e.currentTarget));
      setWrong('');
      tried.mutate(body);
    } catch (fault) {
      setWrong(`The message must be JSON: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  };
  const field = (name: string, label: string, hint: string, required = false) => (
    <label>
      {label}
      <input
        name={name}
        placeholder={hint}
        required={required}
        autoComplete="off"
        spellCheck={false}
        {...(name === 'agent' && { defaultValue: agent ?? '', onInput: (e: FormEvent<HTMLInputElement>) => setTyped(e.currentTarget.value) })}
        {...(known[name] && { list: `${id}-${name}` })}
      />
      {known[name] && (
        <datalist id={`${id}-${name}`}>
          {known[name].map((v) => (
            <option key={v} value={v} />
          ))}
        </datalist>
      )}
    </label>
  );
  return (
    <>
      <p className="hint">
        The guards in force look at the text as at that of a call, without a call. The gateway keeps, logs and records nothing of it. <code>a2a-gateway guards try</code> does the same.
      </p>
      <form className="ask" onSubmit={submit} aria-label="Text">
        {field('agent', 'Agent', 'its id', true)}
        {field('skill', 'Skill', 'as in the path')}
        {field('subject', 'Caller', 'no credential')}
        {field('issuer', 'Issuer', 'the only one by default')}
        {field('groups', 'Groups', 'separated by spaces')}
        <label>
          In the call it is
          <select name="phase">
            <option value="request">a request</option>
            <option value="answer">an answer</option>
            <option value="event">an event</option>
          </select>
        </label>
        <label>
          Below is
          <select name="what">
            <option value="text">a text</option>
            <option value="message">a message, as JSON</option>
          </select>
        </label>
        <label className="wide">
          Text or message
          <textarea name="text" rows={4} required spellCheck={false} {...(wrong && { 'aria-invalid': true, 'aria-describedby': `${id}-wrong` })} />
          {wrong && (
            <span className="bad" id={`${id}-wrong`} role="alert">
              {wrong}
            </span>
          )}
        </label>
        {asking.length > 0 && (
          <div className="wide">
            <p className="hint">These guards send the text to a service: {asking.join(', ')}.</p>
            <label className="check">
              <input type="checkbox" name="offline" /> Leave them out
            </label>
          </div>
        )}
        <div className="actions">
          <button type="submit" className="primary" disabled={tried.isPending}>
            {tried.isPending ? 'Trying…' : 'Try'}
          </button>
        </div>
      </form>
      <div aria-live="polite">
        {tried.isError ? <Trouble error={tried.error} /> : tried.data ? <Answer of={tried.data} /> : <Empty title="Which text?">Enter an agent and a text, then choose Try.</Empty>}
      </div>
    </>
  );
}

function Answer({ of: t }: { of: GuardTried }) {
  const [tone, said] = t.refused ? (['bad', 'refused'] as const) : t.redacted ? (['warn', 'redacted'] as const) : (['good', 'passed on as it is'] as const);
  return (
    <section aria-label="Result" tabIndex={0}>
      <div className="head">
        <Badge tone={tone}>{said}</Badge>
        <h2>{t.guards.length === 0 ? 'No guard looks at it' : `Looked at by ${t.guards.join(', ')}`}</h2>
      </div>
      {t.refused && (
        <dl className="facts bare">
          <div>
            <dt>Refused by</dt>
            <dd>{t.refused.guard}</dd>
          </div>
          <div>
            <dt>Error to the caller</dt>
            <dd>
              {t.refused.error}, {t.refused.status}: {t.refused.message}
            </dd>
          </div>
        </dl>
      )}
      {t.findings.length > 0 && (
        <table className="plain" aria-label="Findings">
          <thead>
            <tr>
              <th scope="col">Guard</th>
              <th scope="col">Kind</th>
              <th scope="col">Part</th>
              <th scope="col">Count</th>
              <th scope="col">Becomes</th>
            </tr>
          </thead>
          <tbody>
            {t.findings.map((f, i) => (
              <tr key={i}>
                <td>{f.guard}</td>
                <td>{f.kind}</td>
                <td>{f.part < 0 ? '–' : f.part}</td>
                <td>{f.count}</td>
                <td>{f.becomes}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {t.redacted && (
        <>
          <h2>What is passed on</h2>
          <pre className="said" tabIndex={0} role="region" aria-label="What is passed on">
            {JSON.stringify(t.document, null, 2)}
          </pre>
        </>
      )}
      {t.notes?.map((n) => (
        <p key={n} className="hint">
          Note: {n}
        </p>
      ))}
    </section>
  );
}
