import { X } from 'lucide-react';
import { type FormEvent, type ReactNode, useId } from 'react';

/** Asked is what records are asked for by, as addresses have it and the admin API takes it. */
export interface Asked {
  caller?: string;
  agent?: string;
  skill?: string;
  method?: string;
  event?: string;
  task?: string;
  context?: string;
  reason?: string;
  decision?: string;
  type?: string;
}

const texts = ['caller', 'agent', 'skill', 'method', 'event', 'task', 'context', 'reason'] as const;
const choices = { decision: ['allow', 'deny', 'error'], type: ['intent', 'call', 'event'] } as const;

/** asked takes from an address what it asks for. */
export function asked(search: Record<string, unknown>): Asked {
  const a: Asked = {};
  for (const key of texts) {
    const v = search[key];
    if (typeof v === 'string' && v !== '') a[key] = v;
    if (typeof v === 'number') a[key] = String(v); // an address has no quotes around one
  }
  for (const key of ['decision', 'type'] as const) {
    const v = search[key];
    if ((choices[key] as readonly unknown[]).includes(v)) a[key] = v as string;
  }
  return a;
}

export function queryOf(a: object): string {
  return new URLSearchParams(Object.entries(a).filter((e): e is [string, string] => typeof e[1] === 'string')).toString();
}

const labels: Record<(typeof texts)[number], string> = {
  caller: 'Caller',
  agent: 'Agent',
  skill: 'Skill',
  method: 'Method',
  event: 'Event',
  task: 'Task',
  context: 'Context',
  reason: 'Reason',
};

/** Known are values that a field can be completed with. */
export type Known = { [f in (typeof texts)[number]]?: string[] };

/** methods are those of A2A 1.0. */
export const methods = [
  'SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs', 'DeleteTaskPushNotificationConfig', 'GetExtendedAgentCard',
];

/** wildcards is what the admin API is asked: ~text in a field means "contains text", there *text*. */
export const wildcards = (a: Asked): Asked => Object.fromEntries(Object.entries(a).map(([k, v]: [string, string]) => [k, v.startsWith('~') ? `*${v.slice(1)}*` : v]));

interface Props {
  of: Asked;
  fields: (typeof texts)[number][];
  label: string;
  onAsk: (a: Asked) => void;
  plain?: boolean; // decisions and types mean nothing
  known?: Known;
  children?: ReactNode;
}

/** Filters asks for records. What is in a field counts when it is left, or with Enter. */
export function Filters({ of, fields, label, onAsk, plain, known, children }: Props) {
  const id = useId();
  const complete = (f: (typeof texts)[number]) => (f === 'method' ? [...new Set([...methods, ...(known?.method ?? [])])] : (known?.[f] ?? []));
  const read = (form: HTMLFormElement) => {
    const next = asked({ ...of, ...Object.fromEntries([...new FormData(form)].map(([k, v]) => [k, String(v).trim()])) });
    if (queryOf(next) !== queryOf(of)) onAsk(next);
  };
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    read(e.currentTarget);
  };
  const leave = (e: FormEvent<HTMLElement>) => {
    const form = e.currentTarget.closest('form');
    if (form) read(form);
  };
  const others = texts.filter((t) => !fields.includes(t) && of[t]); // that an address asks for
  return (
    <form className="bar filters" onSubmit={submit} role="search" aria-label={label}>
      {[...fields, ...others].map((f) => (
        <label key={f}>
          {labels[f]}
          <input name={f} defaultValue={of[f] ?? ''} key={of[f] ?? ''} onBlur={leave} placeholder="any" title="Exactly this; ~text finds what contains text, and * stands for any characters" autoComplete="off" spellCheck={false} list={`${id}-${f}`} />
          <datalist id={`${id}-${f}`}>
            {complete(f).map((v) => (
              <option key={v} value={v} />
            ))}
          </datalist>
        </label>
      ))}
      {(plain ? [] : (['decision', 'type'] as const)).map((c) => (
        <label key={c}>
          {c === 'decision' ? 'Decision' : 'Type'}
          <select name={c} value={of[c] ?? ''} onChange={leave}>
            <option value="">any</option>
            {choices[c].map((v) => (
              <option key={v}>{v}</option>
            ))}
          </select>
        </label>
      ))}
      {children}
      {queryOf(of) !== '' && (
        <button type="button" onClick={() => onAsk({})}>
          <X size={13} aria-hidden /> Clear
        </button>
      )}
      <button type="submit" className="unseen">
        Apply
      </button>
    </form>
  );
}
