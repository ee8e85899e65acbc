import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get, type Standing } from '../api/client';
import { Badge, Loading, Trouble } from './state';

export const tones: Record<string, 'good' | 'warn' | 'bad' | 'calm'> = { required: 'warn', offered: 'good', provided: 'good', injected: 'good', denied: 'bad', absent: 'calm' };

const meanings: Record<string, string> = {
  required: 'the gateway refuses calls that do not request it',
  offered: 'active in calls that request it',
  provided: 'the gateway does it in calls that request it',
  injected: 'the gateway adds it to every call',
  denied: 'never active, whoever requests it',
  absent: 'never active: the agent lacks it, or something it depends on',
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
            In a call for which no rule changes extensions.{' '}
            {!found.data.card && 'The gateway has no card of this agent, so no extension counts as declared. '}
            <Link to="/policy" search={{ view: 'explain', agent }}>
              Explain a call
            </Link>
          </p>
          {found.data.extensions.length === 0 ? (
            <p className="hint">Neither its card nor the configuration names an extension. To require or add one, set agents[].extensions.</p>
          ) : (
            <table className="plain">
              <thead>
                <tr>
                  <th scope="col">Extension</th>
                  <th scope="col">Standing</th>
                  <th scope="col">Reasons</th>
                </tr>
              </thead>
              <tbody>
                {found.data.extensions.map((x) => (
                  <tr key={x.uri}>
                    <td>
                      <code>{x.uri}</code>
                    </td>
                    <td className="prose">
                      <Badge tone={tones[x.standing] ?? 'calm'}>{x.standing}</Badge>
                      <div className="hint">{meanings[x.standing]}</div>
                    </td>
                    <td className="prose">{x.why.map((w) => <div key={w}>{w}</div>)}</td>
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
