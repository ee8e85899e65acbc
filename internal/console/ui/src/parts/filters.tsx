import { X } from 'lucide-react';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useRecorded } from './known';
import { stages } from './reasons';

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
  issuer?: string;
  rule?: string;
  approval?: string;
  guard?: string;
  finding?: string;
  decision?: string;
  stage?: string;
  type?: string;
}

const texts = ['caller', 'issuer', 'agent', 'skill', 'method', 'event', 'task', 'context', 'reason', 'rule', 'approval', 'guard', 'finding'] as const;
const choices = { decision: ['allow', 'deny', 'error'], stage: stages, type: ['intent', 'call', 'event'] } as const;
const chosen = ['decision', 'stage', 'type'] as const;

/** Field is one that a text is asked for in, Choice one that a few are to choose from. */
export type Field = (typeof texts)[number];
export type Choice = (typeof chosen)[number];

/** asked takes from an address what it asks for. */
export function asked(search: Record<string, unknown>): Asked {
  const a: Asked = {};
  for (const key of texts) {
    const v = search[key];
    if (typeof v === 'string' && v !== '') a[key] = v;
    if (typeof v === 'number') a[key] = String(v); // an address has no quotes around one
  }
  for (const key of chosen) {
    const v = search[key];
    if ((choices[key] as readonly unknown[]).includes(v)) a[key] = v as string;
  }
  return a;
}

export function queryOf(a: object): string {
  return new URLSearchParams(Object.entries(a).filter((e): e is [string, string] => typeof e[1] === 'string')).toString();
}

const labels: Record<Field | Choice, string> = {
  caller: 'Caller',
  issuer: 'Issuer',
  agent: 'Agent',
  skill: 'Skill',
  method: 'Method',
  event: 'Event',
  task: 'Task',
  context: 'Context',
  reason: 'Reason',
  rule: 'Rule or limit',
  approval: 'Approval',
  guard: 'Guard',
  finding: 'Found by guards',
  decision: 'Decision',
  stage: 'Refused by',
  type: 'Type',
};

/** Known are values that a field can be completed with. */
export type Known = { [f in Field]?: string[] };

/** methods are those of A2A 1.0. */
export const methods = [
  'SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs', 'DeleteTaskPushNotificationConfig', 'GetExtendedAgentCard',
];

/** wildcards is what the admin API is asked: ~text in a field means "contains text", there *text*. */
export const wildcards = (a: Asked): Asked => Object.fromEntries(Object.entries(a).map(([k, v]: [string, string]) => [k, v.startsWith('~') ? `*${v.slice(1)}*` : v]));

interface Props {
  of: Asked;
  fields: Field[];
  label: string;
  onAsk: (a: Asked) => void;
  plain?: boolean; // decisions, stages and types mean nothing
  known?: Known; // in place of what audit records have
  children?: ReactNode;
}

/** Text asks for a text, completed by those that are known, or else by those on record. */
function Text({ name, value, known, onLeave }: { name: Field; value: string; known: string[] | undefined; onLeave: (e: FormEvent<HTMLElement>) => void }) {
  const list = useId();
  const [typed, setTyped] = useState<string>(); // nothing until somebody is in the field
  const recorded = useRecorded(name, typed ?? '', !known && typed !== undefined && !['task', 'context', 'approval'].includes(name));
  const values = [...new Set([...(known ?? recorded), ...(name === 'method' ? methods : [])])];
  return (
    <label>
      {labels[name]}
      <input name={name} defaultValue={value} onFocus={(e) => setTyped(e.target.value)} onChange={(e) => setTyped(e.target.value)} onBlur={onLeave} placeholder="any" title="Exactly this; ~text finds what contains text, and * stands for any characters" autoComplete="off" spellCheck={false} list={list} />
      <datalist id={list}>
        {values.map((v) => (
          <option key={v} value={v} />
        ))}
      </datalist>
    </label>
  );
}

/** Filters asks for records. What is in a field counts when it is left, or with Enter. */
export function Filters({ of, fields, label, onAsk, plain, known, children }: Props) {
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
        <Text key={`${f} ${of[f] ?? ''}`} name={f} value={of[f] ?? ''} known={known && (known[f] ?? [])} onLeave={leave} />
      ))}
      {(plain ? [] : chosen).map((c) => (
        <label key={c}>
          {labels[c]}
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
