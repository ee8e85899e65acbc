import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Activity, Archive, Boxes, Cable, Gauge, KeyRound, LayoutDashboard, LogOut, Moon, Play, Puzzle, Scale, ScrollText, Send, Sun, UserRound, Waypoints, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { has, may, me, signOut } from '../api/client';
import { Badge, Loading, Trouble } from '../parts/state';
import { chosen, dress } from '../theme';
import { links } from './links';
import { SignIn } from './signin';

// A page that the navigation leads to and that has no icon here does not compile.
const icons: Record<(typeof links)[number]['to'], LucideIcon> = {
  '/': LayoutDashboard,
  '/fleet': Boxes,
  '/map': Waypoints,
  '/live': Activity,
  '/streams': Cable,
  '/audit': ScrollText,
  '/policy': Scale,
  '/extensions': Puzzle,
  '/try': Play,
  '/push': Send,
  '/content': Archive,
  '/identities': KeyRound,
  '/gateway': Gauge,
  '/account': UserRound,
};

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
  const caller = who.data;
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
          {links
            .filter((l) => (l.writes ? may(caller, l.role) : has(caller, l.role)))
            .map(({ to, title }) => {
              const Icon = icons[to];
              return (
                <Link key={to} to={to} activeOptions={{ exact: to === '/', includeSearch: false }} activeProps={active}>
                  <Icon size={16} aria-hidden /> {title}
                </Link>
              );
            })}
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
