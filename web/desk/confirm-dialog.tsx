import type { ReactNode } from 'react';
import type { Answer } from '../data/api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from './form.tsx';
import { useSend } from './use-send.ts';

export interface ConfirmDialogProps<Value> {
  readonly title: string;
  /** Label of the send button, with the same verb as the button that opened the dialog. */
  readonly send: string;
  readonly kind?: 'primary' | 'danger';
  readonly 'data-name'?: string;
  /** See {@link FormProps}. */
  readonly cancelsSomething?: boolean;
  readonly request: () => Promise<Answer<Value>>;
  readonly onDone: (value: Value) => void;
  readonly onClose: () => void;
  /** Describes the action's consequences, above all the irreversible ones. */
  readonly children: ReactNode;
}

/** Asks for confirmation before an action that is hard to undo. */
export function ConfirmDialog<Value>(props: ConfirmDialogProps<Value>): ReactNode {
  const { title, send, kind = 'danger', request, onDone, onClose, children } = props;
  const { cancelsSomething, 'data-name': dataName } = props;
  const sending = useSend();
  const run = async () => {
    const done = await sending.send(request);
    if (done !== null) onDone(done);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        {...{ sending, send, kind, cancelsSomething }}
        data-name={dataName}
        onSend={run}
        onCancel={onClose}
      >
        <div className="stack stack-tight">{children}</div>
      </Form>
    </Dialog>
  );
}
