import type { ReactNode } from 'react';
import type { ListApiKeysResponse } from '../../data/types/dashboard.ts';
import type { Sending } from '../../desk/use-send.ts';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { ALL_SCOPES, type Scope, ScopeChoices } from './api-key-scopes.tsx';

export type ApiKey = ListApiKeysResponse['data'][number];

export interface KeyDraft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** IP addresses and CIDRs, separated by commas or line breaks. */
  readonly addresses: string;
  /** For example `2027-01-31`. Empty if the key never expires. */
  readonly expires: string;
}

export const NEW_KEY: KeyDraft = { name: '', scopes: ALL_SCOPES, addresses: '', expires: '' };

export const KEY_FIELDS = ['name', 'scopes', 'ip_allowlist', 'expires_at'];

/** A key expires at the end of its last day, UTC. */
export function keyBody({ name, scopes, addresses, expires }: KeyDraft) {
  return {
    name: name.trim(),
    scopes: [...scopes],
    ip_allowlist: addresses.split(/[\s,]+/).filter((one) => one !== ''),
    expires_at: expires === '' ? null : `${expires}T23:59:59.000Z`,
  };
}

export interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly sending: Sending;
  /**
   * Returns the value that another user has stored since the form was opened. It is shown below its
   * field.
   */
  readonly stored?: (field: keyof KeyDraft) => string | null;
}

export function KeyFields({ draft, onChange, sending, stored }: KeyFieldsProps): ReactNode {
  const hint = (field: keyof KeyDraft, words: string) => stored?.(field) ?? words;
  return (
    <>
      <TextField
        label={t('desk.field.name')}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
        hint={hint('name', t('dashboard.api_key_fields.name_hint'))}
        error={sending.problemAt('name')}
      />
      <ScopeChoices
        chosen={draft.scopes}
        onChange={(scopes) => onChange({ ...draft, scopes })}
        error={sending.problemAt('scopes')}
      />
      <TextField
        label={t('dashboard.api_key_fields.allowed_ip_addresses.label')}
        value={draft.addresses}
        onChange={(event) => onChange({ ...draft, addresses: event.target.value })}
        hint={hint('addresses', t('dashboard.api_key_fields.ips_hint'))}
        error={sending.problemAt('ip_allowlist')}
      />
      <TextField
        label={t('dashboard.api_key_fields.last_day.label')}
        type="date"
        value={draft.expires}
        onChange={(event) => onChange({ ...draft, expires: event.target.value })}
        hint={hint('expires', t('dashboard.api_key_fields.expiry_hint'))}
        error={sending.problemAt('expires_at')}
      />
    </>
  );
}
