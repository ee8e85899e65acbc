import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Play, Square } from 'lucide-react';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { type Agent, every, Failure, type Me, may } from '../api/client';
import type { components } from '../api/schema';
import { count } from '../parts/amount';
import { over, type Run, useCall } from '../parts/call';
import { Copy } from '../parts/copy';
import { type Came, eventsOf, neat } from '../parts/events';
import { milliseconds } from '../parts/record';
import { Badge, Empty, Trouble } from '../parts/state';
import './policy.css';
import './try.css';

type Form = components['schemas']['TrialForm'];

const route = getRouteApi('/try');

const versions = ['1.0', '0.3', '0.1'] as const;
const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;
const methods = ['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'GetExtendedAgentCard'] as const;

export interface TrySearch {
  agent?: string;
  version?: (typeof versions)[number];
  binding?: (typeof bindings)[number];
  method?: (typeof methods)[number];
  skill?: string;
  caller?: string; // whose credential is wanted
}

const one = <T extends string>(all: readonly T[], v: unknown) => all.find((a) => a === v);

export function trySearch(s: Record<string, unknown>): TrySearch {
  const version = one(versions, typeof s.version === 'number' ? s.version.toFixed(1) : s.version);
  const binding = one(bindings, s.binding);
  const method = one(methods, s.method);
  return {
    ...(typeof s.agent === 'string' && s.agent !== '' && { agent: s.agent }),
    ...(version && { version }),
    ...(binding && { binding }),
    ...(method && { method }),
    ...(typeof s.skill === 'string' && s.skill !== '' && { skill: s.skill }),
    ...(typeof s.caller === 'string' && s.caller !== '' && { caller: s.caller }),
  };
}

/** template is what a method's params look like in a version. */
function template(version: string, method: string): string {
  const id = crypto.randomUUID();
  if (method.startsWith('Send'))
    return JSON.stringify(
      version === '1.0'
        ? { message: { messageId: id, role: 'ROLE_USER', parts: [{ text: 'hello' }] } }
        : version === '0.1'
          ? { id, message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] } }
          : { message: { kind: 'message', messageId: id, role: 'user', parts: [{ kind: 'text', text: 'hello' }] } },
      null,
      2,
    );
  if (method === 'ListTasks' || method === 'GetExtendedAgentCard') return '{}';
  return JSON.stringify({ id: '' }, null, 2);
}

/** Try makes calls as callers make them. */
export function Try() {
  const search = route.useSearch();
  const go = route.useNavigate();
  const who = useQueryClient().getQueryData<Me>(['me']);
  const version = search.version ?? '1.0';
  const binding = search.binding ?? 'JSONRPC';
  const method = search.method ?? 'SendMessage';
  const [typed, setTyped] = useState(search.agent ?? '');
  const [params, setParams] = useState(() => template(version, method));
  const [touched, setTouched] = useState(false);
  const [wrong, setWrong] = useState('');
  const agents = useQuery({ queryKey: ['agents'], queryFn: () => every<'agents', Agent>('/api/v1/agents', 'agents'), refetchInterval: false });
  const { run, start, cancel } = useCall();
  const running = run !== undefined && !over(run);
  const sendButton = useRef<HTMLButtonElement>(null);
  const queries = useQueryClient();
  useEffect(() => {
    if (run?.error instanceof Failure && run.error.status === 401) queries.setQueryData(['me'], null);
  }, [run?.error, queries]);
  const choose = (more: TrySearch) => {
    const next = { ...search, ...more };
    if (!touched) setParams(template(next.version ?? '1.0', next.method ?? 'SendMessage'));
    void go({ search: next, replace: true });
  };
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    let read: unknown;
    try {
      read = params.trim() === '' ? {} : JSON.parse(params);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
      return;
    }
    setWrong('');
    const extensions = text('extensions').split(/[\s,]+/).filter(Boolean);
    const credential = text('credential');
    const skill = text('skill');
    void start({
      agent: text('agent'), version, binding, method, params: read,
      ...(skill && { skill }),
      ...(extensions.length > 0 && { extensions }),
      ...(credential && (text('as') === 'bearer' ? { bearer: credential } : { apiKey: credential })),
    });
  };
  if (who && !may(who, 'operator'))
    return (
      <>
        <h1>Try it</h1>
        <Empty title="Operators only">{who.readOnly ? 'The configuration sets admin.readOnly.' : `Your role is ${who.role}. Ask an administrator for the role operator.`}</Empty>
      </>
    );
  const skills = (agents.data ?? []).find((a) => a.id === typed.trim())?.skills ?? [];
  const near = (agents.data ?? []).filter((a) => a.id.toLowerCase().includes(typed.toLowerCase())).slice(0, 50);
  return (
    <>
      <h1>Try it</h1>
      <p className="hint">
        The gateway sends the call to its own public listener: it is authenticated, authorized, rate-limited and recorded as any other, and the agent acts on it. The gateway does not store the
        credential.
      </p>
      {search.caller && (
        <p className="hint" role="note">
          To make the call as <strong>{search.caller}</strong>, enter an API key or a bearer token of theirs: the gateway keeps none that it could use.
        </p>
      )}
      <form className="ask" onSubmit={submit} aria-label="Call">
        <label>
          Agent
          <input name="agent" required defaultValue={search.agent ?? ''} list="agents" autoComplete="off" spellCheck={false} onInput={(e) => setTyped(e.currentTarget.value)} onBlur={(e) => choose({ agent: e.currentTarget.value.trim() })} />
        </label>
        <datalist id="agents">
          {near.map((a) => (
            <option key={a.id} value={a.id} />
          ))}
        </datalist>
        <Choice label="Version" of={versions} value={version} onChoose={(v) => choose({ version: v })} />
        <Choice label="Binding" of={bindings} value={binding} onChoose={(v) => choose({ binding: v })} />
        <Choice label="Method" of={methods} value={method} onChoose={(v) => choose({ method: v })} />
        <label>
          Skill
          <input name="skill" defaultValue={search.skill ?? ''} list="skills" placeholder="none" autoComplete="off" spellCheck={false} />
        </label>
        <datalist id="skills">
          {skills.map((s) => (
            <option key={s} value={s} />
          ))}
        </datalist>
        <label>
          Extensions
          <input name="extensions" placeholder="URIs to request" autoComplete="off" spellCheck={false} />
        </label>
        <label>
          Authenticate with
          <select name="as">
            <option value="apiKey">API key</option>
            <option value="bearer">bearer token</option>
          </select>
        </label>
        <label>
          Credential
          <input name="credential" type="password" placeholder="none: anonymous" autoComplete="off" spellCheck={false} />
        </label>
        <label className="wide params">
          Parameters
          <textarea
            rows={8}
            value={params}
            spellCheck={false}
            onInput={(e) => {
              setParams(e.currentTarget.value);
              setTouched(true);
            }}
            {...(wrong && { 'aria-invalid': true, 'aria-describedby': 'params-wrong' })}
          />
          {wrong && (
            <span className="bad" id="params-wrong" role="alert">
              Parameters must be JSON: {wrong}
            </span>
          )}
        </label>
        <div className="actions">
          <button type="submit" className="primary" disabled={running} ref={sendButton}>
            <Play size={13} aria-hidden /> Send
          </button>
          {running && (
            <button
              type="button"
              onClick={() => {
                cancel();
                requestAnimationFrame(() => sendButton.current?.focus()); // this button goes away
              }}
            >
              <Square size={13} aria-hidden /> Cancel
            </button>
          )}
          {touched && (
            <button
              type="button"
              onClick={() => {
                setParams(template(version, method));
                setTouched(false);
              }}
            >
              Start over
            </button>
          )}
        </div>
      </form>
      {run?.error !== undefined && <Trouble error={run.error} />}
      {run && (run.error === undefined || run.sent) && <Seen key={run.key} of={run} />}
    </>
  );
}

function Choice<T extends string>({ label, of, value, onChoose }: { label: string; of: readonly T[]; value: T; onChoose: (v: T) => void }) {
  return (
    <label>
      {label}
      <select value={value} onChange={(e) => onChoose(e.currentTarget.value as T)}>
        {of.map((v) => (
          <option key={v}>{v}</option>
        ))}
      </select>
    </label>
  );
}

const ends: Record<string, string> = {
  'admin.try.timeout': 'The call was still in progress when admin.try.timeout ended.',
  'admin.try.streamTimeout': 'The call was still in progress when admin.try.streamTimeout ended.',
  'admin.try.answer': 'The rest is not shown: the response exceeds admin.try.answer.',
  failed: 'The response broke off.',
};

/** standing says in a line how far a call is, for those who hear it. */
function standing(r: Run, events: Came[] | null): string {
  const last = events?.at(-1);
  const so = events ? `${count(events.length, 'event')}${last ? `, the last after ${milliseconds(last.at)}: ${last.what}` : ''}` : '';
  if (r.cancelled !== undefined)
    return `You cancelled the call after ${milliseconds(r.cancelled)}. The gateway has closed it. The agent’s task may continue: end it with CancelTask.${so && ` There were ${so}.`}`;
  if (!r.trial) return r.error !== undefined ? '' : !r.sent ? 'The call is being sent.' : !r.head ? 'The call is sent. No answer has come yet.' : `The answer is coming. ${so}`;
  return `${ends[r.trial.ended] ?? 'The answer is complete.'} ${r.trial.failure ?? ''} ${so}`.replace(/ +/g, ' ').trim();
}

function Seen({ of: r }: { of: Run }) {
  const [view, setView] = useState<'answer' | 'wire' | 'forms'>('answer');
  const views = { answer: 'Answer', wire: 'On the wire', forms: 'In other versions' } as const;
  const t = r.trial;
  const pieces = t?.pieces ?? r.pieces;
  const events = useMemo(() => eventsOf(pieces, r.binding), [pieces, r.binding]);
  const status = t?.status ?? r.head?.status;
  const request = t?.request ?? r.head?.request;
  const active = new Set(t?.active ?? r.head?.active);
  const asked = new Set([...(t?.asked ?? []), ...active]);
  return (
    <section aria-label="What came of it" className="below">
      <div className="head">
        <h2>
          {status ? (
            <Badge tone={status < 300 && !t?.grpc ? 'good' : 'bad'}>{t?.grpc ? `gRPC ${t.grpc.split(' ')[0]}` : `HTTP ${status}`}</Badge>
          ) : (
            <Badge tone={over(r) ? 'bad' : 'calm'}>{over(r) ? 'no answer' : 'waiting'}</Badge>
          )}
        </h2>
        <span className="hint">
          {t && milliseconds(t.took)}
          {request && (
            <>
              {t && ' · '}request <code>{request}</code>
            </>
          )}
        </span>
        <div className="actions">
          <div className="tabs" role="group" aria-label="What to look at">
            {Object.entries(views).map(([k, label]) => (
              <button key={k} type="button" aria-pressed={view === k} onClick={() => setView(k as keyof typeof views)}>
                {label}
              </button>
            ))}
          </div>
        </div>
      </div>
      {t?.grpc && <p className="bad">{t.grpc}</p>}
      <p role="status" aria-live="polite" className={t?.ended === 'failed' ? 'bad' : 'hint'}>
        {standing(r, events)}
      </p>
      {asked.size > 0 && (
        <p className="extensions">
          {[...asked].map((uri) => (
            <span key={uri}>
              <code>{uri}</code> <Badge tone={active.has(uri) ? 'good' : 'warn'}>{active.has(uri) ? 'active' : 'not active'}</Badge>
            </span>
          ))}
        </p>
      )}
      {view === 'answer' && <Answer of={events} text={pieces.map((p) => p.text).join('')} ended={over(r)} />}
      {view === 'wire' && (
        <>
          <div className="sides">
            <Text label="Sent" text={t?.sent ?? r.sent?.sent ?? ''} />
            <Text label={t ? 'Received' : r.binding === 'GRPC' ? 'Messages so far, in JSON' : 'Body so far'} text={t?.received ?? r.pieces.map((p) => p.text).join(r.binding === 'GRPC' ? '\n' : '')} />
          </div>
          {(t?.command ?? r.sent?.command) && <Text label="For a shell" text={t?.command ?? r.sent?.command ?? ''} />}
        </>
      )}
      {view === 'forms' && (t ? <Forms of={t.forms} /> : <p className="hint">{over(r) ? 'The call did not end by itself, so it is not translated.' : 'The call is translated once it has ended.'}</p>)}
    </section>
  );
}

function Answer({ of, text, ended }: { of: Came[] | null; text: string; ended: boolean }) {
  if (text === '') return ended ? <p className="hint">It has no body.</p> : null;
  if (!of) return <Text label="Body" text={neat(text)} />;
  return (
    <ol className="pieces" aria-label="Events">
      {of.map((e, i) => (
        <li key={i}>
          <span className="faint">
            {milliseconds(e.at)}
            {i > 0 && <span title="since the event before">+{milliseconds(e.at - (of[i - 1]?.at ?? 0))}</span>}
          </span>
          <div>
            <strong>{e.what}</strong>
            <pre tabIndex={0} role="region" aria-label={`Event ${i + 1}, after ${milliseconds(e.at)}`}>
              {e.text}
            </pre>
          </div>
        </li>
      ))}
    </ol>
  );
}

function Text({ label, text, of }: { label: string; text: string; of?: string }) {
  return (
    <div className="raw">
      <h3>{label}</h3>
      <Copy text={text} label={label} />
      <pre tabIndex={0} role="region" aria-label={of ? `${label}, ${of}` : label}>
        {text}
      </pre>
    </div>
  );
}

function Forms({ of }: { of: Form[] }) {
  return (
    <>
      <p className="hint">The call and its answer as the gateway translates them. gRPC has the documents of HTTP+JSON, in Protobuf; its messages are shown in JSON.</p>
      <div className="sides">
        {of.map((f) => (
          <section key={f.version + f.binding} aria-label={`A2A ${f.version}, ${f.binding}`}>
            <h3>
              A2A {f.version}, {f.binding} {f.caller && <Badge tone="calm">sent so</Badge>} {f.agent && <Badge tone="good">the agent has it</Badge>}
            </h3>
            {f.problem && <p className="hint">{f.problem}</p>}
            {f.verb && <Text label={`${f.verb} ${f.path || '(the URL itself)'}`} text={neat(f.body ?? '')} of={`A2A ${f.version}, ${f.binding}`} />}
            {f.answers?.map((a, i) => (
              // The events of one call stay as they are, in their order.
              <Text key={`${i}-${a.length}`} label={f.answers && f.answers.length > 1 ? `Event ${i + 1}` : 'Answer'} text={neat(a)} of={`A2A ${f.version}, ${f.binding}`} />
            ))}
          </section>
        ))}
      </div>
    </>
  );
}
