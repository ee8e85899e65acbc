import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get, type Standing } from '../api/client';
import { Badge, Loading, Trouble } from './state';

export const tones: Record<string, 'good' | 'warn' | 'bad' | 'calm'> = { required: 'warn', offered: 'good', provided: 'good', injected: 'good', denied: 'bad', absent: 'calm' };

const meanings: Record<string, string> = {
  required: 'a call without it is refused',
  offered: 'active for who asks',
  provided: 'done by the gateway for who asks',
  injected: 'active without being asked for',
  denied: 'never active, whoever asks',
  absent: 'never active: the agent does not have it, or not what it depends on',
};

/** Standings says of one agent what its extensions are, and why. */
export function Standings({ agent }: { agent: string }) {
  const found = useQuery({ queryKey: ['standing', agent], queryFn: () => get<Standing>(`/api/v1/extensions/agents/${encodeURIComponent(agent)}`), refetchInterval: false });
  return (
    <>
      {found.isError && <Trouble error={found.error} again={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {found.data && (
        <>
          <p className="hint">
            In a call of which no rule says more.{' '}
            {!found.data.card && 'Its card is not known, so that nothing counts as declared. '}
            <Link to="/policy" search={{ view: 'explain', agent }}>
              Explain a call
            </Link>
          </p>
          {found.data.extensions.length === 0 ? (
            <p className="hint">Neither its card nor the configuration names one.</p>
          ) : (
            <table className="plain">
              <thead>
                <tr>
                  <th scope="col">Extension</th>
                  <th scope="col">Is</th>
                  <th scope="col">Because</th>
                </tr>
              </thead>
              <tbody>
                {found.data.extensions.map((x) => (
                  <tr key={x.uri}>
                    <td>
                      <code>{x.uri}</code>
                    </td>
                    <td>
                      <Badge tone={tones[x.standing] ?? 'calm'}>{x.standing}</Badge>
                      <div className="hint">{meanings[x.standing]}</div>
                    </td>
                    <td>{x.why.map((w) => <div key={w}>{w}</div>)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </>
      )}
    </>
  );
}
