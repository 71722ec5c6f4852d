import { type ReactNode, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { FormDialog, type FormDialogProps } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { useToast } from '../../ui/toast.tsx';
import { ReasonField } from './reason-field.tsx';

/**
 * `send` has the same verb as the button that opened the dialog. The children describe the
 * consequences.
 */
export interface ReasonDialogProps<Value> extends Omit<FormDialogProps, 'sending' | 'onSend'> {
  /** Explains who will read the reason. */
  readonly hint: string;
  readonly needsReason?: boolean;
  readonly request: (reason: string) => Promise<Answer<Value>>;
  /** The confirmation after success. */
  readonly said: string | ((value: Value) => string);
}

export function ReasonDialog<Value>(props: ReasonDialogProps<Value>): ReactNode {
  const { hint, needsReason = true, request, said, children, ...form } = props;
  const [reason, setReason] = useState('');
  const sending = useSend(['reason']);
  const toast = useToast();
  const run = async () => {
    const typed = reason.trim();
    if (needsReason && typed === '') return sending.refuse('reason', 'Enter a reason.');
    const done = await sending.send(() => request(typed));
    if (done === null) return;
    toast(typeof said === 'string' ? said : said(done));
    form.onClose();
  };
  return (
    <FormDialog {...form} sending={sending} onSend={run}>
      <div className="stack stack-tight">{children}</div>
      <ReasonField value={reason} onText={setReason} hint={hint} sending={sending} />
    </FormDialog>
  );
}
