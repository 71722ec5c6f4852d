import type { ReactNode } from 'react';
import { DialogButton } from '../../desk/dialog-button.tsx';
import type { ButtonProps } from '../../ui/button.tsx';
import { ReasonDialog, type ReasonDialogProps } from './reason-dialog.tsx';

export interface ReasonButtonProps<Value> extends Omit<ReasonDialogProps<Value>, 'onClose'> {
  /** The look of the button that opens the dialog. */
  readonly button?: ButtonProps['kind'];
  /** The text of that button; `send` if absent. */
  readonly words?: ReactNode;
}

/** A button for a change that staff must give a reason for. */
export function ReasonButton<Value>(props: ReasonButtonProps<Value>): ReactNode {
  const { button = 'plain', words = props.send, ...dialog } = props;
  return (
    <DialogButton kind={button} words={words}>
      {(close) => <ReasonDialog {...dialog} onClose={close} />}
    </DialogButton>
  );
}
