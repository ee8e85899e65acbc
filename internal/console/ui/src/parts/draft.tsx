import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { type Checked, post, type Replayed } from '../api/client';
import { Copy } from './copy';
import { Cut } from './record';
import { Trouble } from './state';
import { unified } from './unified';

const pause = 400; // milliseconds without a change until a draft is checked

/** Checks says what is wrong with a draft while it is written, as validate says it of a file. */
export function Checks({ of, onLine }: { of: string; onLine: (line: number) => void }) {
  const [text, setText] = useState(of);
  useEffect(() => {
    const soon = setTimeout(() => setText(of), pause);
    return () => clearTimeout(soon);
  }, [of]);
  const found = useQuery({
    queryKey: ['check-rules', text],
    queryFn: () => post<Checked>('/api/v1/policy/check', { rules: text }),
    retry: false,
    refetchInterval: false,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const { mistakes = [], warnings = [], rules = 0 } = found.data ?? {};
  const says = text !== of || found.isPending ? 'The draft is being checked…' : mistakes.length > 0 ? `${mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`}: these rules could not be put in force.` : `The draft is valid: ${rules === 1 ? 'one rule' : `${rules} rules`}.`;
  return (
    <section aria-label="Checks of the draft">
      {found.isError ? <Trouble error={found.error} again={() => void found.refetch()} /> : <p role="status">{says}</p>}
      {mistakes.length > 0 && (
        <ul className="values" aria-label="Mistakes">
          {mistakes.map((m, i) => (
            <li key={i}>
              {m.line !== undefined && (
                <button type="button" onClick={() => onLine(m.line ?? 1)}>
                  Line {m.line}, column {m.column}
                </button>
              )}{' '}
              {m.text}
            </li>
          ))}
        </ul>
      )}
      {warnings.length > 0 && (
        <ul className="values" aria-label="Warnings">
          {warnings.map((w) => (
            <li key={w}>{w}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Export is what a draft changes, for the file that people own: nothing is written here. */
export function Export({ before, after }: { before: string; after: string }) {
  const diff = useMemo(() => unified(before, after, ['rules in force', 'draft']), [before, after]);
  if (diff === '') return null;
  const save = () => {
    const url = URL.createObjectURL(new Blob([diff], { type: 'text/x-diff' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: 'rules.diff' });
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <details>
      <summary>What the draft changes</summary>
      <p className="hint">The rules in force are written as in the draft above, without the comments of their files. Nothing is written here: change the files, and have them reloaded.</p>
      <div className="raw">
        <Copy text={diff} label="difference" />
        <pre tabIndex={0} role="region" aria-label="Difference">
          {diff}
        </pre>
      </div>
      <button type="button" onClick={save}>
        Download
      </button>
    </details>
  );
}

const most = 20; // of each kind that are shown

const kinds = { caller: 'Callers', agent: 'Agents', skill: 'Skills' } as const;

/** Whom says whose calls are newly allowed or denied, and of which agents and skills. */
export function Whom({ of }: { of: Replayed }) {
  if (of.touched.length === 0) return null;
  return (
    <div className="columns">
      {Object.entries(kinds).map(([kind, title]) => {
        const all = of.touched.filter((t) => t.kind === kind);
        return (
          <div key={kind} className="below">
            <table className="plain" aria-label={`${title} whose calls change`}>
              <thead>
                <tr>
                  <th scope="col">{title}</th>
                  <th scope="col">Newly allowed</th>
                  <th scope="col">Newly denied</th>
                  <th scope="col">Newest</th>
                </tr>
              </thead>
              <tbody>
                {all.slice(0, most).map((t) => (
                  <tr key={`${t.name} ${t.of ?? ''}`}>
                    <td>
                      {t.name === '' ? (
                        <span className="faint">none</span>
                      ) : (
                        <Link to="/audit" search={kind === 'caller' ? { caller: t.name } : kind === 'agent' ? { agent: t.name } : { skill: t.name, ...(t.of && { agent: t.of }) }}>
                          {t.name}
                        </Link>
                      )}
                      {t.of && (
                        <>
                          {' '}
                          <span className="faint">
                            <Cut text={`of ${t.of}`} />
                          </span>
                        </>
                      )}
                    </td>
                    <td>{t.denyToAllow}</td>
                    <td>{t.allowToDeny}</td>
                    <td>
                      <Link to="/audit/$seq" params={{ seq: String(t.seq) }}>
                        {t.seq}
                      </Link>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {all.length > most && <p className="hint">{all.length - most} further ones.</p>}
          </div>
        );
      })}
    </div>
  );
}
