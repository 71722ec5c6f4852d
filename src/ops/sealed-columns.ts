/** Which of the service's keys a column is sealed under. */
export type SealPurpose = 'people' | 'webhooks' | 'cards' | 'ids';

/** A column that `encrypt` has written. */
export interface SealedColumn {
  readonly table: string;
  /** The primary key. */
  readonly id: string;
  readonly column: string;
  /** SQL for what the seal is bound to. */
  readonly context: string;
  readonly purpose: SealPurpose;
}

/**
 * Everything that is sealed under the service's secret. A new one must be added here: a
 * test compares the list with the schema, and `npm run reseal` walks it.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'users', id: 'id', column: 'totp_secret', context: 'id', purpose: 'people' },
  { table: 'kyb_documents', id: 'id', column: 'content', context: 'id', purpose: 'people' },
  { table: 'mail_outbox', id: 'id', column: 'sealed', context: 'context', purpose: 'people' },
  { table: 'webhook_endpoints', id: 'id', column: 'secret', context: 'id', purpose: 'webhooks' },
  {
    table: 'webhook_endpoints',
    id: 'id',
    column: 'previous_secret',
    context: 'id',
    purpose: 'webhooks',
  },
  { table: 'cards', id: 'id', column: 'keys', context: 'id', purpose: 'cards' },
  { table: 'service_keys', id: 'name', column: 'sealed', context: 'name', purpose: 'ids' },
];
