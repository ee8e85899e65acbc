import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  title: string;
  action: string;
  danger?: boolean;
  busy: boolean;
  children: ReactNode;
  onDo: () => void;
  onClose: () => void;
}

/** Confirm asks before something is done. The browser keeps the focus inside of it. */
export function Confirm({ title, action, danger, busy, children, onDo, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="confirm" onClose={onClose}>
      <h2 id="confirm">{title}</h2>
      {children}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className={danger ? 'danger' : 'primary'} disabled={busy} onClick={onDo}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
