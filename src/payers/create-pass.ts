import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { type PassRow, passes } from '#payers/payer-queries.ts';

/** `secret` is the value that its chip sends to a terminal; it is returned only here. */
export async function createPass(
  tx: Tx,
  input: { readonly payerId: string; readonly label: string; readonly now: Date },
): Promise<{ readonly row: PassRow; readonly secret: string }> {
  const secret = newSecret('pass', tx.cell);
  const row = await passes.insert(tx, {
    id: newId('pass', input.now, tx.cell),
    hash: hashSecret(secret),
    payer_id: input.payerId,
    label: input.label,
    created: input.now,
  });
  return { row, secret };
}
