import type { ReactNode } from 'react';
import { Select } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import type { Role } from '../use-merchant.ts';

const ROLES: readonly Role[] = ['cashier', 'viewer', 'member', 'admin', 'owner'];

export const choiceOf = (role: Role) => t(`dashboard.role_choice.${role}`);

interface RoleSelectProps {
  readonly role: Role;
  readonly onChange: (role: Role) => void;
  readonly error: string | null;
  readonly hint?: string | null;
}

export function RoleSelect({ role, onChange, error, hint = null }: RoleSelectProps): ReactNode {
  return (
    <Select
      label={t('dashboard.field.role')}
      value={role}
      onChange={(event) => onChange(event.target.value as Role)}
      error={error}
      hint={hint ?? undefined}
    >
      {ROLES.map((name) => (
        <option key={name} value={name}>
          {choiceOf(name)}
        </option>
      ))}
    </Select>
  );
}
