import type { ReactNode } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { Form, type FormProps } from './form.tsx';

export interface FormDialogProps extends Omit<FormProps, 'onCancel' | 'wide'> {
  readonly title: string;
  readonly onClose: () => void;
}

export function FormDialog({ title, onClose, ...form }: FormDialogProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} onCancel={onClose} />
    </Dialog>
  );
}
