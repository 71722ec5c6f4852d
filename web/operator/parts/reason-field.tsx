import type { ReactNode } from 'react';
import type { Sending } from '../../desk/use-send.ts';
import { TextField } from '../../ui/field.tsx';

export interface ReasonFieldProps {
  readonly value: string;
  readonly onText: (reason: string) => void;
  /** Explains who will read the reason. */
  readonly hint: string;
  readonly sending: Sending;
}

export function ReasonField({ value, onText, hint, sending }: ReasonFieldProps): ReactNode {
  return (
    <TextField
      label="Reason"
      value={value}
      onChange={(event) => onText(event.target.value)}
      hint={hint}
      maxLength={500}
      error={sending.problemAt('reason')}
    />
  );
}
