import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Activity, Archive, Boxes, Cable, Gauge, KeyRound, LogOut, Moon, Play, Puzzle, Scale, ScrollText, Send, Sun, UserRound, Waypoints } from 'lucide-react';
import { useState } from 'react';
import { may, me, signOut } from '../api/client';
import { Badge, Loading, Trouble } from '../parts/state';
import { chosen, dress } from '../theme';
import { SignIn } from './signin';

export function Shell() {
  const who = useQuery({ queryKey: ['me'], queryFn: me, refetchInterval: 60_000 });
  const queries = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      queries.clear();
      queries.setQueryData(['me'], null);
    },
  });
  if (who.data === undefined)
    return <main className="alone">{who.isError ? <Trouble error={who.error} again={() => void who.refetch()} /> : <Loading />}</main>;
  if (who.data === null) return <SignIn />;
  const active = { className: 'here', 'aria-current': 'page' as const };
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header>
        <span className="brand">
          <img src={new URL('../icon.svg', import.meta.url).href} alt="" width={22} height={22} /> a2a-gateway
        </span>
        <nav aria-label="Console">
          <Link to="/" activeOptions={{ exact: true, includeSearch: false }} activeProps={active}>
            <Boxes size={16} aria-hidden /> Fleet
          </Link>
          <Link to="/map" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Waypoints size={16} aria-hidden /> Map
          </Link>
          <Link to="/live" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Activity size={16} aria-hidden /> Live
          </Link>
          <Link to="/streams" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Cable size={16} aria-hidden /> Streams
          </Link>
          <Link to="/audit" activeOptions={{ includeSearch: false }} activeProps={active}>
            <ScrollText size={16} aria-hidden /> Audit
          </Link>
          <Link to="/policy" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Scale size={16} aria-hidden /> Policy
          </Link>
          <Link to="/extensions" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Puzzle size={16} aria-hidden /> Extensions
          </Link>
          {may(who.data, 'operator') && (
            <Link to="/try" activeOptions={{ includeSearch: false }} activeProps={active}>
              <Play size={16} aria-hidden /> Try it
            </Link>
          )}
          <Link to="/push" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Send size={16} aria-hidden /> Push
          </Link>
          {who.data.role !== 'viewer' && (
            <Link to="/content" activeOptions={{ includeSearch: false }} activeProps={active}>
              <Archive size={16} aria-hidden /> Captured content
            </Link>
          )}
          <Link to="/identities" activeOptions={{ includeSearch: false }} activeProps={active}>
            <KeyRound size={16} aria-hidden /> Identities
          </Link>
          <Link to="/gateway" activeOptions={{ includeSearch: false }} activeProps={active}>
            <Gauge size={16} aria-hidden /> Config and health
          </Link>
          <Link to="/account" activeProps={active}>
            <UserRound size={16} aria-hidden /> Account
          </Link>
        </nav>
        <div className="whoami">
          <div className="name" title={who.data.name}>
            {who.data.label ?? who.data.name}
          </div>
          <Badge tone="calm">{who.data.role}</Badge>
          <ThemeSwitch />
          <button type="button" className="icon" aria-label="Sign out" title="Sign out" disabled={leave.isPending} onClick={() => leave.mutate()}>
            <LogOut size={15} aria-hidden />
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {who.data.readOnly && <div className="banner">Nothing can be changed here: admin.readOnly is set.</div>}
        {!who.data.readOnly && !may(who.data, 'operator') && <div className="banner">You see everything and change nothing: your role is viewer.</div>}
        {leave.isError && <Trouble error={leave.error} />}
        <Outlet />
      </main>
    </div>
  );
}

function ThemeSwitch() {
  const [theme, set] = useState(chosen());
  const dark = theme === '' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  const turn = () => {
    const next = dark ? 'light' : 'dark';
    dress(next);
    set(next);
  };
  return (
    <button type="button" className="icon" aria-label={dark ? 'Light colours' : 'Dark colours'} title={dark ? 'Light colours' : 'Dark colours'} onClick={turn}>
      {dark ? <Sun size={15} aria-hidden /> : <Moon size={15} aria-hidden />}
    </button>
  );
}
