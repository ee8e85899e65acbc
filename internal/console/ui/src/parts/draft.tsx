import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { Checked, Replayed } from '../api/client';
import { Copy } from './copy';
import { Cut } from './record';
import { useSettled } from './settled';
import { Trouble } from './state';
import { unified } from './unified';

const pause = 400; // milliseconds without a change until a draft is checked

/** showLine puts the cursor on a line of a draft. */
export function showLine(box: HTMLTextAreaElement | null, text: string, line: number) {
  const lines = text.split('\n');
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  box?.focus();
  box?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}

type Said = Pick<Checked, 'mistakes' | 'warnings'>;

/** Checks says what is wrong with a draft while it is written, as validate says it of a file. */
export function Checks<T extends Said>({ of, what, check, valid, onLine }: { of: string; what: string; check: (text: string) => Promise<T>; valid: (found: T) => string; onLine: (line: number) => void }) {
  const text = useSettled(of, pause);
  const found = useQuery({
    queryKey: ['check-draft', what, text],
    queryFn: () => check(text),
    retry: false,
    refetchInterval: false,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  const { mistakes = [], warnings = [] } = found.data ?? {};
  const says = text !== of || !found.data ? 'The draft is being checked…' : mistakes.length > 0 ? `${mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`}: ${what} could not be put in force.` : `The draft is valid${valid(found.data)}.`;
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

/** Export is what a draft changes, to copy or download: no file is written here. */
export function Export({ before, after, names, file, open, children }: { before: string; after: string; names: [string, string]; file: string; open?: boolean; children: ReactNode }) {
  const [left, right] = names;
  const diff = useMemo(() => unified(before, after, [left, right]), [before, after, left, right]);
  if (diff === '') return null;
  const save = () => {
    const url = URL.createObjectURL(new Blob([diff], { type: 'text/x-diff' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: file });
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <details open={open}>
      <summary>What the draft changes</summary>
      <p className="hint">{children}</p>
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
