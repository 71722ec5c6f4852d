import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { checkAgainstChain } from '#testing/invariants/invariants-chain.ts';
import { checkCharges } from '#testing/invariants/invariants-charges.ts';
import { checkTokens } from '#testing/invariants/invariants-tokens.ts';

/**
 * Compares the ledger with its chain: rows and events, each payer's charges, and the contract's
 * tokens. Random histories of every kind end with this check, at rest.
 * @returns the differences, as sentences; empty if there are none.
 */
export async function checkWithChain(db: Sql, chain: Chain): Promise<string[]> {
  return [
    ...(await checkAgainstChain(db, chain)),
    ...(await checkCharges(db, chain)),
    ...(await checkTokens(chain)),
  ];
}
