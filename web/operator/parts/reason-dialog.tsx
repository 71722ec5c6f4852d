import { type ReactNode, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { useToast } from '../../ui/toast.tsx';

export interface ReasonDialogProps<Value> {
  readonly title: string;
  /** Label of the send button, with the same verb as the button that opened the dialog. */
  readonly send: string;
  readonly kind?: 'primary' | 'danger';
  /** Explains who will read the reason. */
  readonly hint: string;
  readonly needsReason?: boolean;
  readonly request: (reason: string) => Promise<Answer<Value>>;
  /** The confirmation after success. */
  readonly said: string | ((value: Value) => string);
  readonly onClose: () => void;
  /** The consequences. */
  readonly children: ReactNode;
}

/** Asks staff for the reason of a change, for the audit log. */
export function ReasonDialog<Value>(props: ReasonDialogProps<Value>): ReactNode {
  const { title, send, kind = 'primary', hint, needsReason = true, request, said, onClose } = props;
  const [reason, setReason] = useState('');
  const sending = useSend(['reason']);
  const toast = useToast();
  const run = async () => {
    const typed = reason.trim();
    if (needsReason && typed === '') return sending.refuse('reason', 'Enter a reason.');
    const done = await sending.send(() => request(typed));
    if (done === null) return;
    toast(typeof said === 'string' ? said : said(done));
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form sending={sending} onSend={run} send={send} kind={kind} onCancel={onClose}>
        <div className="stack stack-tight">{props.children}</div>
        <TextField
          label="Reason"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          hint={hint}
          maxLength={500}
          error={sending.problemAt('reason')}
        />
      </Form>
    </Dialog>
  );
}
