import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ask, type ContentPage, get, type Me, may } from '../api/client';
import { Confirm } from '../parts/confirm';
import { Empty, Loading, Trouble } from '../parts/state';
import { type Column, Table } from '../parts/table';
import { When } from '../parts/time';

const route = getRouteApi('/content');

type Item = ContentPage['content'][number];

const columns: Column<Item>[] = [
  { id: 'time', title: 'Captured', width: '110px', sort: (c) => c.time, cell: (c) => <When at={c.time} /> },
  { id: 'agent', title: 'Agent', width: 'minmax(110px, 1fr)', sort: (c) => c.agent, cell: (c) => c.agent },
  { id: 'skill', title: 'Skill', width: 'minmax(90px, 1fr)', sort: (c) => c.skill ?? '', cell: (c) => c.skill },
  { id: 'method', title: 'Method', width: 'minmax(130px, 1fr)', sort: (c) => c.method, cell: (c) => c.method },
  { id: 'label', title: 'Label', width: 'minmax(90px, 1fr)', sort: (c) => c.label, cell: (c) => c.label },
  { id: 'task', title: 'Task', width: 'minmax(130px, 1.2fr)', cell: (c) => <code className="cut">{c.task_id}</code> },
  { id: 'request', title: 'Request', width: 'minmax(130px, 1.2fr)', cell: (c) => <code className="cut">{c.request_id}</code> },
];

export function Content() {
  const { subject = '', issuer = '' } = route.useSearch();
  const go = route.useNavigate();
  const queries = useQueryClient();
  const who = queries.getQueryData<Me>(['me']);
  const [asked, setAsked] = useState(false);
  const query = `subject=${encodeURIComponent(subject)}${issuer && `&issuer=${encodeURIComponent(issuer)}`}`;
  const found = useQuery({ queryKey: ['content', query], queryFn: () => get<ContentPage>(`/api/v1/content?${query}&limit=1000`), enabled: subject !== '', refetchInterval: false });
  const erase = useMutation({
    mutationFn: () => ask('POST', `/api/v1/content/erase?${query}`),
    onSuccess: () => {
      setAsked(false);
      return queries.invalidateQueries({ queryKey: ['content'] });
    },
  });
  const submit = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const [s, i] = [String(form.get('subject')).trim(), String(form.get('issuer')).trim()];
    void go({ search: { ...(s && { subject: s }), ...(i && { issuer: i }) } });
  };
  return (
    <>
      <h1>Captured content</h1>
      <p className="hint">Which messages of a caller the gateway has captured. Their content is not shown here. An admin can erase it for good.</p>
      <form className="bar" onSubmit={submit}>
        <label>
          Subject <input name="subject" required defaultValue={subject} key={`s${subject}`} />
        </label>
        <label>
          Issuer <input name="issuer" placeholder="any" defaultValue={issuer} key={`i${issuer}`} />
        </label>
        <button type="submit">Look up</button>
        {found.data && found.data.content.length > 0 && who && may(who, 'admin') && (
          <button type="button" className="danger" onClick={() => setAsked(true)}>
            Erase all of it
          </button>
        )}
      </form>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {subject === '' ? (
        <Empty title="Whose content?">Enter the subject of a caller, as in audit records, to list what the gateway has captured.</Empty>
      ) : found.isPending ? (
        <Loading />
      ) : found.data?.content.length === 0 ? (
        <Empty title="Nothing was captured">
          The gateway captures content only of calls that a rule of <code>telemetry.audit.content</code> matches, and keeps it only until it expires.
        </Empty>
      ) : (
        found.data && <Table label="Captured content" rows={found.data.content} columns={columns} name={(c) => c.id} initial="time" />
      )}
      {asked && (
        <Confirm title={`Erase what was captured of ${subject}?`} action="Erase" danger busy={erase.isPending} onDo={() => erase.mutate()} onClose={() => setAsked(false)}>
          <p>The gateway destroys its keys, so that it is gone for good, in backups as well. The audit log records that you did it.</p>
          {erase.isError && <Trouble error={erase.error} />}
        </Confirm>
      )}
    </>
  );
}
