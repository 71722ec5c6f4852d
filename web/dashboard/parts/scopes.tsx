import type { ReactNode } from 'react';
import type { CreateApiKeyBody } from '../../data/types/dashboard.ts';
import { Choice } from '../../ui/choice.tsx';

export type Scope = CreateApiKeyBody['scopes'][number];

/** What each scope lets a key do, in the order in which most servers need them. */
export const SCOPES: Readonly<Record<Scope, string>> = {
  'payments:write': 'Create and cancel payment requests',
  'payments:read': 'See payments and intents',
  'refunds:write': 'Make refunds',
  'refunds:read': 'See refunds',
  'terminals:read': 'See terminals',
  'events:read': 'See events',
  'balance:read': 'See the balance',
  'logs:read': 'See your servers’ requests',
  'webhooks:read': 'See webhook endpoints and deliveries',
  'webhooks:write': 'Change webhook endpoints, and send deliveries again',
};

export const ALL_SCOPES = Object.keys(SCOPES) as Scope[];

export interface ScopeChoicesProps {
  readonly chosen: readonly Scope[];
  readonly onChange: (chosen: readonly Scope[]) => void;
  readonly error: string | null;
}

export function ScopeChoices({ chosen, onChange, error }: ScopeChoicesProps): ReactNode {
  return (
    <fieldset className="field">
      <legend>Permissions</legend>
      {ALL_SCOPES.map((scope) => (
        <Choice
          key={scope}
          name="scopes"
          type="checkbox"
          value={scope}
          label={
            <>
              {SCOPES[scope]} <span className="id soft">{scope}</span>
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
