import { getAddress } from 'viem';
import { present } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { insertPayer, type PayerRow } from '#payers/payer-queries.ts';

/** Returns the payer of a wallet on one network, and creates it if there is none. */
export async function createPayer(
  tx: Tx,
  input: { readonly livemode: boolean; readonly address: string; readonly now: Date },
): Promise<PayerRow> {
  const { livemode, now } = input;
  const address = getAddress(input.address);
  const row = await insertPayer(tx, { id: newId('payer', now), livemode, address, created: now });
  return present(row, 'payer');
}
