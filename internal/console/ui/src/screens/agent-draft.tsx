import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Agent, type AgentChecked, type AgentDraft, ask, Failure, get, has, type Me, may, post, type Replayed } from '../api/client';
import { Confirm } from '../parts/confirm';
import { Checks, Export, showLine } from '../parts/draft';
import { type Range, RangeFields, times } from '../parts/range';
import { Answer } from '../parts/replay';
import { Loading, Trouble } from '../parts/state';
import { When } from '../parts/time';

const once = { retry: false, refetchInterval: false, refetchOnWindowFocus: false } as const;

/** Drafted has an agent's configuration edited as a draft, by those who may see it. */
export function Drafted({ of }: { of: Agent }) {
  const who = useQueryClient().getQueryData<Me>(['me']);
  const [open, setOpen] = useState(false);
  if (!who || !has(who, 'operator') || of.origin === 'kubernetes') return null;
  return (
    <section aria-label="Configuration" tabIndex={0}>
      <div className="head">
        <h2>Configuration</h2>
        <div className="actions">
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Close the draft' : 'Edit as a draft'}
          </button>
        </div>
      </div>
      {open ? (
        <Begin id={of.id} who={who} />
      ) : (
        <p className="hint">
          A draft is checked while it is written, and tried on recorded calls. {of.origin === 'api' ? 'Nothing changes until it is applied.' : 'No file is written here: the draft ends as a diff.'}
        </p>
      )}
    </section>
  );
}

function Begin({ id, who }: { id: string; who: Me }) {
  // Each opening begins with what there is then, and nothing takes its place while somebody types.
  const begun = useQuery({ queryKey: ['draft', id], queryFn: () => get<AgentDraft>(`/api/v1/agents/${encodeURIComponent(id)}/draft`), ...once, staleTime: Infinity, gcTime: 0 });
  if (begun.isError) return <Trouble error={begun.error} again={() => void begun.refetch()} />;
  return begun.data ? <Editor id={id} who={who} begun={begun.data} /> : <Loading />;
}

function Editor({ id, who, begun }: { id: string; who: Me; begun: AgentDraft }) {
  const [base, setBase] = useState(begun);
  const [text, setText] = useState(begun.text);
  const box = useRef<HTMLTextAreaElement>(null);
  const path = `/api/v1/agents/${encodeURIComponent(id)}`;
  return (
    <>
      <p className="hint">
        {base.registered ? 'As it was registered.' : <>As <code>{base.place}</code> has it, without its comments.</>} Secrets are not shown. A marker such as <code>{'<kept: credentials[0].value>'}</code> stands in the place of
        each{base.registered ? ' and keeps it, as long as it stays there and calls go where they go now: write the secret anew otherwise.' : '; in the file the secret stays as it is.'}
      </p>
      <form aria-label="Draft of the agent" onSubmit={(e) => e.preventDefault()}>
        <label htmlFor="agent-draft" className="label">
          The agent, as an entry of agents has it
        </label>
        <textarea id="agent-draft" ref={box} rows={16} value={text} spellCheck={false} onChange={(e) => setText(e.target.value)} />
        <div className="bar">
          {base.registered && <Apply id={id} who={who} base={base} text={text} onDone={(now) => [setBase(now), setText(now.text)]} onCompare={setBase} />}
          <button type="button" disabled={text === base.text} onClick={() => setText(base.text)}>
            Discard changes
          </button>
        </div>
      </form>
      <Checks of={text} what="this agent" check={(agent) => post<AgentChecked>(`${path}/check`, { agent })} valid={() => ''} onLine={(line) => showLine(box.current, text, line)} />
      <Export before={base.text} after={text} names={[base.registered ? 'registered' : (base.place ?? 'in force'), 'draft']} file={`${id}.diff`}>
        {base.registered ? 'Markers stand for secrets.' : 'Markers stand for secrets, and comments are left out. Nothing is written here: change the file, and have it reloaded.'}
      </Export>
      <Effect text={text} />
    </>
  );
}

interface Applying {
  id: string;
  who: Me;
  base: AgentDraft;
  text: string;
  onDone: (now: AgentDraft) => void;
  onCompare: (newer: AgentDraft) => void;
}

/** Apply puts a draft in force, in the place of what it began with and of nothing else. */
function Apply({ id, who, base, text, onDone, onCompare }: Applying) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  const path = `/api/v1/agents/${encodeURIComponent(id)}`;
  const apply = useMutation({
    mutationFn: async () => {
      await ask('PUT', path, { 'Content-Type': 'application/yaml', 'If-Match': `"${base.edition}"` }, text);
      return get<AgentDraft>(`${path}/draft`);
    },
    onSuccess: onDone,
    onSettled: () => {
      setAsked(false);
      return Promise.all(['agent', 'agents', 'card', 'cards'].map((key) => queries.invalidateQueries({ queryKey: [key] })));
    },
  });
  const conflict = apply.error instanceof Failure && apply.error.code === 'AGENT_CHANGED';
  const take = (use: (newer: AgentDraft) => void) => (newer: AgentDraft) => {
    apply.reset();
    use(newer);
  };
  return (
    <>
      {may(who, 'admin') ? (
        <button type="button" className="primary" disabled={text === base.text || apply.isPending} onClick={() => setAsked(true)}>
          Apply
        </button>
      ) : (
        <span className="hint">To apply a draft takes the role admin{who.readOnly && ', and admin.readOnly to be off'}.</span>
      )}
      {apply.isSuccess && text === base.text && <span role="status">Applied: the agent is served so.</span>}
      {conflict ? <Conflict path={path} onNewer={take(onDone)} onCompare={take(onCompare)} /> : apply.isError && <Trouble error={apply.error} />}
      {asked && (
        <Confirm title="Apply this draft?" action="Apply" busy={apply.isPending} onDo={() => apply.mutate()} onClose={() => setAsked(false)}>
          <p>Calls of {id} are served by it from now on, at all replicas. The audit log records who applied it.</p>
        </Confirm>
      )}
    </>
  );
}

/** Conflict says who has changed the agent meanwhile, and offers what there is now. */
function Conflict({ path, onNewer, onCompare }: { path: string; onNewer: (d: AgentDraft) => void; onCompare: (d: AgentDraft) => void }) {
  const newer = useQuery({
    queryKey: ['newer', path],
    queryFn: async () => ({ draft: await get<AgentDraft>(`${path}/draft`), agent: await get<Agent>(path) }),
    ...once,
    gcTime: 0,
  });
  if (newer.isError) return <Trouble error={newer.error} again={() => void newer.refetch()} />;
  if (!newer.data) return <Loading />;
  const { agent, draft } = newer.data;
  return (
    <div className="trouble" role="alert">
      <div>
        <strong>
          {agent.by ?? 'Somebody'} has changed this agent meanwhile, <When at={agent.registered} />. Nothing was applied.
        </strong>
        <p>Load the newer configuration and begin again, or compare your draft with it: to apply the draft then undoes what was changed.</p>
      </div>
      <button type="button" onClick={() => onNewer(draft)}>
        Load the newer
      </button>
      <button type="button" onClick={() => onCompare(draft)}>
        Compare with the newer
      </button>
    </div>
  );
}

/** Effect says whose recorded calls the draft decides otherwise. */
function Effect({ text }: { text: string }) {
  const [at, setAt] = useState<Range>({ last: '24h' });
  const [asked, setAsked] = useState<{ agent: string; at: Range }>();
  const found = useQuery({
    queryKey: ['agent-effect', asked],
    queryFn: () => post<Replayed>('/api/v1/policy/replay', { agent: asked?.agent ?? '', ...times(asked?.at ?? {}) }),
    enabled: asked !== undefined,
    ...once,
    gcTime: 0,
  });
  return (
    <section aria-label="Effect of the draft">
      <h3>Who is affected</h3>
      <p className="hint">Recorded calls of this agent are decided again, by the rules in force and the draft: its skills, how they are matched, and its id are what rules see of it.</p>
      <div className="bar">
        <RangeFields of={at} onAsk={setAt} />
        <button type="button" disabled={found.isFetching} onClick={() => setAsked({ agent: text, at })}>
          {found.isFetching ? 'Replaying…' : 'Replay its calls'}
        </button>
      </div>
      <div aria-live="polite">{asked && (found.isError ? <Trouble error={found.error} /> : found.data ? <Answer of={found.data} stale={asked.agent !== text} /> : <Loading />)}</div>
    </section>
  );
}
