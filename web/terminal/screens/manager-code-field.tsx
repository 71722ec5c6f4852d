import type { ReactNode } from 'react';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';

/** The length of a code without its hyphen. */
export const MANAGER_CODE_LENGTH = 8;

export function ManagerCodeField({
  code,
  onCode,
}: {
  readonly code: string;
  readonly onCode: (code: string) => void;
}): ReactNode {
  return (
    <TextField
      data-name="Manager code"
      label={t('till.refund.manager_code')}
      autoComplete="off"
      value={code}
      onChange={(event) => onCode(event.target.value)}
      hint={t('till.refund.manager_code_hint')}
    />
  );
}
