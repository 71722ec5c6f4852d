import { checkInvariants } from '#testing/invariants/invariants.ts';
import { checkAgainstChain, readLedger } from '#testing/invariants/invariants-chain.ts';
import { checkCharges } from '#testing/invariants/invariants-charges.ts';
import { checkTokens } from '#testing/invariants/invariants-tokens.ts';
import type { RestoreGround } from '#testing/restore-ground.ts';
import { type Lost, withoutLost } from '#testing/ways/lost-merchants.ts';

async function readLost(world: RestoreGround, merchants: ReadonlySet<bigint>): Promise<Lost[]> {
  if (merchants.size === 0) return [];
  const events = await world.onChain(readLedger);
  return events.filter(
    (one): one is Lost => one.event === 'PaymentSettled' && merchants.has(one.merchantNumber),
  );
}

/** What is broken in ledger and chain, but for what lost merchants explain. */
export async function findBroken(
  world: RestoreGround,
  lostMerchants: ReadonlySet<bigint>,
): Promise<string[]> {
  const lost = await readLost(world, lostMerchants);
  const ledger = await checkInvariants(world.db, { atRest: true });
  const chain = await world.onChain(async (chain) => [
    ...(await checkAgainstChain(world.db, chain)),
    ...(await checkCharges(world.db, chain)),
    ...(await checkTokens(chain)),
  ]);
  return withoutLost([...ledger, ...chain], lost);
}
