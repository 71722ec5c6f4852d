import type { RotatingKey } from '#core/bearer-secrets.ts';
import type { IdKey } from '#core/ids.ts';

/** The keys of a process. Each has one purpose. */
export interface ProcessKeys {
  /** Derives the ids of objects. */
  readonly id: IdKey;
  /** Encrypts the keys of payers' cards. */
  readonly card: RotatingKey;
  /** Signs the cursors of lists. */
  readonly cursor: Buffer;
  /** Encrypts the signing secrets of merchants' webhook endpoints. */
  readonly webhook: RotatingKey;
  /** Encrypts TOTP secrets, documents and queued mail, and signs CSRF and device tokens. */
  readonly people: RotatingKey;
}
