import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react';
import { Icon } from './icon.tsx';
import { SheetGrip } from './sheet-grip.tsx';
import './dialog.css';
import { t } from './text/t.ts';

export interface DialogProps {
  readonly title: string;
  /** Called on Escape and by the close button. The dialog stays open as long as it is rendered. */
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Returns the open dialog, which the new dialog will replace. */
function openDialog(): HTMLDialogElement | null {
  return document.querySelector<HTMLDialogElement>('dialog[open]');
}

/**
 * Opens a native dialog as modal while it is rendered. One that opens over another replaces it
 * until it closes.
 */
export function useModal(): RefObject<HTMLDialogElement | null> {
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
  return dialog;
}

/**
 * A native modal dialog, which traps and restores the focus. Render it only while it is open:
 * `{open ? <Dialog …/> : null}`.
 */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const titleId = useId();
  const dialog = useModal();
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
      {/* Placed last in the DOM, so that the dialog opens with its first field in focus. */}
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
