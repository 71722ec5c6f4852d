import type { ReactNode } from 'react';
import type { CreateApiKeyBody } from '../../data/types/dashboard.ts';
import { Choice } from '../../ui/choice.tsx';
import { t } from '../../ui/text/t.ts';

export type Scope = CreateApiKeyBody['scopes'][number];

export const scopeWords = (): Readonly<Record<Scope, string>> => ({
  'payments:write': t('dashboard.scope.payments_write'),
  'payments:read': t('dashboard.scope.payments_read'),
  'refunds:write': t('dashboard.scope.refunds_write'),
  'refunds:read': t('dashboard.scope.refunds_read'),
  'terminals:read': t('dashboard.scope.terminals_read'),
  'events:read': t('dashboard.scope.events_read'),
  'balance:read': t('dashboard.scope.balance_read'),
  'logs:read': t('dashboard.scope.logs_read'),
  'webhooks:read': t('dashboard.scope.webhooks_read'),
  'webhooks:write': t('dashboard.scope.webhooks_write'),
});

/** All scopes, sorted by how often servers need them. */
export const ALL_SCOPES: readonly Scope[] = [
  'payments:write',
  'payments:read',
  'refunds:write',
  'refunds:read',
  'terminals:read',
  'events:read',
  'balance:read',
  'logs:read',
  'webhooks:read',
  'webhooks:write',
];

export interface ScopeChoicesProps {
  readonly chosen: readonly Scope[];
  readonly onChange: (chosen: readonly Scope[]) => void;
  readonly error: string | null;
}

export function ScopeChoices({ chosen, onChange, error }: ScopeChoicesProps): ReactNode {
  return (
    <fieldset className="field">
      <legend>{t('dashboard.scopes.permissions.legend')}</legend>
      {ALL_SCOPES.map((scope) => (
        <Choice
          key={scope}
          name="scopes"
          type="checkbox"
          value={scope}
          label={
            <>
              {scopeWords()[scope]} <span className="id soft">{scope}</span>
            </>
          }
          checked={chosen.includes(scope)}
          onChange={(isOn) =>
            onChange(isOn ? [...chosen, scope] : chosen.filter((one) => one !== scope))
          }
        />
      ))}
      {error === null ? null : (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
