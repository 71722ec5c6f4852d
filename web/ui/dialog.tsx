import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from './icon.tsx';
import { SheetGrip } from './sheet-grip.tsx';
import './dialog.css';
import { t } from './text/t.ts';

export interface DialogProps {
  readonly title: string;
  /** Called by Escape too. The dialog stands as long as it is rendered. */
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The dialog that the new one is about to cover. */
function openDialog(): HTMLDialogElement | null {
  return document.querySelector<HTMLDialogElement>('dialog[open]');
}

/**
 * The browser's own modal dialog: it holds the focus and gives it back. Render it while it is open:
 * `{open ? <Dialog …/> : null}`. One that opens over another takes its place until it is closed.
 */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const titleId = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    const covered = openDialog();
    covered?.close();
    if (element !== null && !element.open) element.showModal();
    return () => {
      element?.close();
      if (covered?.isConnected === true) covered.showModal();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <SheetGrip onAway={onClose} />
      <div className="stack">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
      {/* Last: the dialog opens with its first field in focus. */}
      <button
        type="button"
        className="dialog-close"
        aria-label={t('ui.dialog.close')}
        onClick={onClose}
      >
        <Icon name="bad" />
      </button>
    </dialog>
  );
}
