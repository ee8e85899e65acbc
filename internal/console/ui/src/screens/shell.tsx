import { useMutation, type UseMutationResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Activity, Archive, Boxes, Cable, Gauge, Keyboard, KeyRound, LayoutDashboard, LogOut, Menu, Moon, Play, Puzzle, Scale, ScrollText, Send, ShieldCheck, Stamp, Sun, UserRound, Waypoints, X, type LucideIcon } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { has, may, type Me, me, signOut } from '../api/client';
import { type Place, ShortcutsDialog, useShortcuts } from '../parts/shortcuts';
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
  '/guards': ShieldCheck,
  '/extensions': Puzzle,
  '/try': Play,
  '/approvals': Stamp,
  '/push': Send,
  '/content': Archive,
  '/identities': KeyRound,
  '/gateway': Gauge,
  '/account': UserRound,
};

// Which letter goes to a page after g.
const letters: Record<(typeof links)[number]['to'], string> = {
  '/': 'o',
  '/fleet': 'f',
  '/map': 'm',
  '/live': 'l',
  '/streams': 's',
  '/audit': 'a',
  '/policy': 'p',
  '/guards': 'd',
  '/extensions': 'e',
  '/try': 't',
  '/approvals': 'r',
  '/push': 'n',
  '/content': 'c',
  '/identities': 'i',
  '/gateway': 'h',
  '/account': 'u',
};

export function Shell() {
  const who = useQuery({ queryKey: ['me'], queryFn: me, refetchInterval: 60_000 });
  // It is here that the end of it has to be seen: clear takes away the query that who listens to.
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
  return <Frame who={who.data} leave={leave} />;
}

/** Frame is what is around every screen of somebody who has signed in. */
function Frame({ who, leave }: { who: Me; leave: UseMutationResult<void, Error, void> }) {
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  const pages = links.filter((l) => (l.writes ? may(who, l.role) : has(who, l.role)));
  const places = pages.map(({ to, title }): Place => ({ letter: letters[to], title, go: () => void navigate({ to }) }));
  const [on, setOn] = useShortcuts(places, () => setHelp(true));
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Header pages={pages}>
        <div className="whoami">
          <div className="name" title={who.name}>
            {who.label ?? who.name}
          </div>
          <Badge tone="calm">{who.role}</Badge>
          <button type="button" className="icon" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => setHelp(true)}>
            <Keyboard size={15} aria-hidden />
          </button>
          <ThemeSwitch />
          <button type="button" className="icon" aria-label="Sign out" title="Sign out" disabled={leave.isPending} onClick={() => leave.mutate()}>
            <LogOut size={15} aria-hidden />
          </button>
        </div>
      </Header>
      <main id="main" tabIndex={-1}>
        {who.readOnly && <div className="banner">This console is read-only: admin.readOnly is set in the configuration.</div>}
        {!who.readOnly && !may(who, 'operator') && <div className="banner">You can view everything, and change nothing but calls that wait for your approval: your role is viewer.</div>}
        {leave.isError && <Trouble error={leave.error} />}
        <Outlet />
      </main>
      {help && <ShortcutsDialog places={places} on={on} onSet={setOn} onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Header has the navigation, which is a menu where the window is narrow. */
function Header({ pages, children }: { pages: readonly (typeof links)[number][]; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const path = useRouterState({ select: (s) => s.location.pathname });
  useEffect(() => setOpen(false), [path]);
  const close = (e: KeyboardEvent) => {
    if (e.key !== 'Escape' || !open || document.querySelector('dialog[open]')) return;
    setOpen(false);
    button.current?.focus();
  };
  // The link that was followed goes with the menu; the screen that it leads to has the focus then.
  const follow = () => {
    if (open) document.getElementById('main')?.focus();
    setOpen(false);
  };
  const active = { className: 'here', 'aria-current': 'page' as const };
  const here = pages.find((l) => l.to === path);
  return (
    <header onKeyDown={close} className={open ? 'open' : undefined}>
      <span className="brand">
        <img src={new URL('../icon.svg', import.meta.url).href} alt="" width={22} height={22} /> a2a-gateway
      </span>
      <button ref={button} type="button" className="menu" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
        {open ? <X size={16} aria-hidden /> : <Menu size={16} aria-hidden />} Menu<span className="unseen">{here && `, at ${here.title}`}</span>
      </button>
      <div id="menu">
        <nav aria-label="Console">
          {pages.map(({ to, title }) => {
            const Icon = icons[to];
            return (
              <Link key={to} to={to} onClick={follow} activeOptions={{ exact: to === '/', includeSearch: false }} activeProps={active}>
                <Icon size={16} aria-hidden /> {title}
              </Link>
            );
          })}
        </nav>
        {children}
      </div>
    </header>
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
