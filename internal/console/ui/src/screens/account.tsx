import { useQuery } from '@tanstack/react-query';
import { get, me } from '../api/client';
import { Badge, Loading, Trouble } from '../parts/state';
import { When } from '../parts/time';

interface Document {
  info: { version: string };
  paths: Record<string, Record<string, { summary?: string; 'x-role'?: string }>>;
}

export function Account() {
  const who = useQuery({ queryKey: ['me'], queryFn: me });
  const api = useQuery({ queryKey: ['document'], queryFn: () => get<Document>('/api/v1/openapi.json'), refetchInterval: false });
  return (
    <>
      <h1>Account</h1>
      {who.data && (
        <dl className="facts">
          <div>
            <dt>Name in the audit log</dt>
            <dd>
              <code>{who.data.name}</code>
            </dd>
          </div>
          <div>
            <dt>Role</dt>
            <dd>
              <Badge tone="calm">{who.data.role}</Badge>
            </dd>
          </div>
          <div>
            <dt>Session expires</dt>
            <dd>
              <When at={who.data.expires} />
            </dd>
          </div>
          <div>
            <dt>Gateway version</dt>
            <dd>{api.data?.info.version ?? '–'}</dd>
          </div>
        </dl>
      )}
      <h2>The admin API</h2>
      <p className="hint">
        Everything on these pages is available to programs; <a href="/api/v1/openapi.json">openapi.json</a> describes the API. These pages contain <a href="/ui/licenses.md">open-source software</a>.
      </p>
      {api.isError && <Trouble error={api.error} again={() => void api.refetch()} />}
      {api.isPending && <Loading />}
      {api.data && (
        <section aria-label="Operations" tabIndex={0}>
          <table className="plain">
          <thead>
            <tr>
              <th scope="col">Method</th>
              <th scope="col">Path</th>
              <th scope="col">Role</th>
              <th scope="col">Summary</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(api.data.paths).flatMap(([path, methods]) =>
              Object.entries(methods)
                .filter(([, op]) => op.summary)
                .map(([method, op]) => (
                  <tr key={method + path}>
                    <td>{method.toUpperCase()}</td>
                    <td>
                      <code>{path}</code>
                    </td>
                    <td>{op['x-role'] || <span className="faint">none</span>}</td>
                    <td className="prose">{op.summary}</td>
                  </tr>
                )),
            )}
          </tbody>
        </table>
        </section>
      )}
    </>
  );
}
