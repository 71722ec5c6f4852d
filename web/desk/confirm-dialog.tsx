import type { ReactNode } from 'react';
import type { Answer } from '../data/api.ts';
import { FormDialog, type FormDialogProps } from './form-dialog.tsx';
import { useSend } from './use-send.ts';

/**
 * `send` has the same verb as the button that opened the dialog. The children describe the action's
 * consequences, above all the irreversible ones.
 */
export interface ConfirmDialogProps<Value> extends Omit<FormDialogProps, 'sending' | 'onSend'> {
  readonly request: () => Promise<Answer<Value>>;
  readonly onDone: (value: Value) => void;
}

/** Asks for confirmation before an action that is hard to undo. */
export function ConfirmDialog<Value>(props: ConfirmDialogProps<Value>): ReactNode {
  const { request, onDone, children, ...form } = props;
  const sending = useSend();
  const run = async () => {
    const done = await sending.send(request);
    if (done !== null) onDone(done);
  };
  return (
    <FormDialog kind="danger" {...form} sending={sending} onSend={run}>
      <div className="stack stack-tight">{children}</div>
    </FormDialog>
  );
}
