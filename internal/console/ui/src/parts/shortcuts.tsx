import { useEffect, useRef, useState } from 'react';

/** Place is a screen that a letter leads to. */
export interface Place {
  letter: string;
  title: string;
  go: () => void;
}

const key = 'a2a-gateway-shortcuts';
const sequence = 1500; // milliseconds between g and a letter

/** typing reports whether a key belongs to what has the focus. */
function typing(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog') !== null;
}

/** find focuses the search of the screen, or else the first field that narrows it. */
function find(): boolean {
  for (const at of ['input[type=search]', '[role=search] input', 'form input']) {
    const field = [...document.querySelectorAll<HTMLInputElement>(`main ${at}`)].find((f) => f.checkVisibility());
    if (!field) continue;
    field.focus();
    field.select();
    return true;
  }
  return false;
}

/**
 * Shortcuts listens for keys of one character. They do nothing while somebody types or a dialog is
 * open, and can be switched off: a program that turns speech into keys would set them off (WCAG 2.1.4).
 */
export function useShortcuts(places: Place[], onHelp: () => void): [on: boolean, set: (on: boolean) => void] {
  const [on, set] = useState(localStorage.getItem(key) !== 'off');
  const now = useRef({ places, onHelp });
  now.current = { places, onHelp };
  useEffect(() => {
    if (!on) return;
    let led = 0; // when g was pressed
    const press = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || typing(e.target) || document.querySelector('dialog[open]')) return;
      const goes = Date.now() - led < sequence;
      led = 0;
      const place = goes ? now.current.places.find((p) => p.letter === e.key) : undefined;
      if (place) place.go();
      else if (e.key === 'g') led = Date.now();
      else if (e.key === '?') now.current.onHelp();
      else if (e.key !== '/' || !find()) return;
      e.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [on]);
  const keep = (next: boolean) => {
    if (next) localStorage.removeItem(key);
    else localStorage.setItem(key, 'off');
    set(next);
  };
  return [on, keep];
}

interface Props {
  places: Place[];
  on: boolean;
  onSet: (on: boolean) => void;
  onClose: () => void;
}

/** ShortcutsDialog lists them. */
export function ShortcutsDialog({ places, on, onSet, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const rows: [string[], string][] = [
    [['/'], 'Search or filter the screen'],
    [['?'], 'Show this list'],
    [['Esc'], 'Close a dialog or the menu'],
    ...places.map((p): [string[], string] => [['g', p.letter], `Go to ${p.title}`]),
  ];
  return (
    <dialog ref={dialog} className="shortcuts" aria-labelledby="shortcuts" onClose={onClose}>
      <h2 id="shortcuts">Keyboard shortcuts</h2>
      <dl>
        {rows.map(([keys, what]) => (
          <div key={keys.join(' ')}>
            <dt>
              {keys.map((k, i) => (
                <span key={k}>
                  {i > 0 && ' then '}
                  <kbd>{k}</kbd>
                </span>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="hint">
        <input type="checkbox" checked={on} onChange={(e) => onSet(e.target.checked)} /> Shortcuts are on in this browser
      </label>
      <div className="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </dialog>
  );
}
