import type { ReactNode } from 'react';
import type { ButtonProps } from '../ui/button.tsx';
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx';
import { DialogButton } from './dialog-button.tsx';

export interface ConfirmButtonProps<Value>
  extends Omit<ConfirmDialogProps<Value>, 'onClose' | 'onDone'> {
  /** The look of the button that opens the dialog. */
  readonly button?: ButtonProps['kind'];
  /** Called after the dialog has closed. */
  readonly onDone?: (value: Value) => void;
}

export function ConfirmButton<Value>(props: ConfirmButtonProps<Value>): ReactNode {
  const { button = 'plain', onDone, ...dialog } = props;
  return (
    <DialogButton kind={button} words={dialog.send}>
      {(close) => (
        <ConfirmDialog
          {...dialog}
          onDone={(value) => {
            close();
            onDone?.(value);
          }}
          onClose={close}
        />
      )}
    </DialogButton>
  );
}
