import { apiKeyExpired, apiKeyInvalid, apiKeyRevoked } from '#accounts/authenticate-api-key.ts';
import { selectCredentialEnds } from '#accounts/credential-end-queries.ts';
import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { assertNever } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';

type KeyOwner = Pick<MerchantAccount, 'keyHash'>;

export type CredentialEnds = (merchant: KeyOwner) => Refusal | null;

export function deviceKeyRevoked(): Refusal {
  return refuse('api_key_revoked', 'This device key was revoked. Pair the terminal again.');
}

export function terminalInactive(): Refusal {
  return refuse('terminal_inactive', 'The terminal is inactive. Activate it in the dashboard.');
}

/**
 * Reads which credentials of these requests are still valid, in the transaction that does the work.
 * The row that authenticated a request may be almost a second old, and an ended credential must not
 * create, charge or refund anything.
 */
export async function readCredentialEnds(
  sql: Sql,
  merchants: readonly KeyOwner[],
): Promise<CredentialEnds> {
  const hashes = new Map(
    merchants.flatMap(({ keyHash }) =>
      keyHash === null ? [] : [[keyHash.toString('hex'), keyHash]],
    ),
  );
  if (hashes.size === 0) return () => null;
  const rows = await selectCredentialEnds(sql, [...hashes.values()]);
  const ends = new Map(rows.map(({ hash, ended }) => [hash.toString('hex'), ended]));
  return ({ keyHash }) => {
    if (keyHash === null) return null;
    const ended = ends.get(keyHash.toString('hex'));
    switch (ended) {
      case null:
        return null;
      case undefined:
        return apiKeyInvalid();
      case 'revoked':
        return apiKeyRevoked();
      case 'expired':
        return apiKeyExpired();
      case 'unpaired':
        return deviceKeyRevoked();
      case 'inactive':
        return terminalInactive();
      default:
        return assertNever(ended);
    }
  };
}
