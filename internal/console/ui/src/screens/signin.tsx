import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { get, signIn, type Ways } from '../api/client';
import { Trouble } from '../parts/state';

export function SignIn() {
  const [token, setToken] = useState('');
  const queries = useQueryClient();
  const ways = useQuery({ queryKey: ['ways'], queryFn: () => get<Ways>('/api/v1/login/ways'), refetchInterval: false });
  const enter = useMutation({ mutationFn: signIn, onSuccess: (who) => queries.setQueryData(['me'], who) });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    enter.mutate(token.trim());
  };
  return (
    <main className="signin">
      <h1>
        <img src={new URL('../icon.svg', import.meta.url).href} alt="" width={28} height={28} /> a2a-gateway
      </h1>
      {ways.data?.provider && (
        <>
          <a className="button primary wide" href={`/api/v1/login?to=${encodeURIComponent(location.pathname + location.search)}`}>
            Sign in with the identity provider
          </a>
          <div className="or">or with a token</div>
        </>
      )}
      <form onSubmit={submit}>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          required
          value={token}
          onChange={(e) => setToken(e.target.value)}
        />
        <p className="hint">
          The gateway’s own is in <code>admin.token</code> below <code>server.dataDir</code>. The browser keeps a session, not the token.
        </p>
        <button type="submit" className={ways.data?.provider ? 'wide' : 'primary wide'} disabled={enter.isPending || token.trim() === ''}>
          Sign in
        </button>
      </form>
      {enter.isError && <Trouble error={enter.error} />}
    </main>
  );
}
