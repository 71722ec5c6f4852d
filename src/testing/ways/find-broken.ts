import type { PaymentSettled } from '#settlement/contract/contract-events.ts';
import { checkWithChain } from '#testing/invariants/check-with-chain.ts';
import { checkInvariants } from '#testing/invariants/invariants.ts';
import { readLedger } from '#testing/invariants/invariants-chain.ts';
import type { RestoreGround } from '#testing/restore-ground.ts';

async function readLost(world: RestoreGround, merchants: ReadonlySet<bigint>): Promise<Lost[]> {
  if (merchants.size === 0) return [];
  const events = await world.onChain(readLedger);
  return events.filter(
    (one): one is Lost => one.event === 'PaymentSettled' && merchants.has(one.merchantNumber),
  );
}

/** Finds violations in ledger and chain, except those explained by lost merchants. */
export async function findBroken(
  world: RestoreGround,
  lostMerchants: ReadonlySet<bigint>,
): Promise<string[]> {
  const lost = await readLost(world, lostMerchants);
  const ledger = await checkInvariants(world.db, { atRest: true });
  const chain = await world.onChain((chain) => checkWithChain(world.db, chain));
  return withoutLost([...ledger, ...chain], lost);
}

/** A settlement for a merchant whose account was lost: it cannot be booked for anyone. */
type Lost = PaymentSettled;

function takenFor({ amount, feeAcquirer, feeProtocol, cashback }: Lost): bigint {
  return amount + feeAcquirer + feeProtocol - cashback;
}

/** True if `A … B` differ by exactly this amount, so that no other difference is hidden. */
function differsBy(line: string, pattern: RegExp, sum: bigint): boolean {
  const found = pattern.exec(line);
  if (found === null) return false;
  const [, one = '0', other = '0'] = found;
  return BigInt(one) - BigInt(other) === sum;
}

function isOf(line: string, lost: readonly Lost[]): boolean {
  const numbers = new Set(lost.map(({ number }) => String(number)));
  const [, named] = /(?:settlement|no intent:|foreign_settlement payment) (\d+)/.exec(line) ?? [];
  if (named !== undefined) return numbers.has(named);
  const whole = lost.reduce((sum, one) => sum + takenFor(one), 0n);
  if (differsBy(line, /^the contract holds (\d+) .* ledger knows (\d+)$/, whole)) return true;
  const payer = /^(0x[0-9a-f]{40}) paid /.exec(line)?.[1];
  const ofPayer = lost.filter((one) => one.payer.toLowerCase() === payer);
  const sum = ofPayer.reduce((total, one) => total + takenFor(one), 0n);
  return (
    ofPayer.length > 0 &&
    (differsBy(line, /paid (\d+) atoms, the ledger says (\d+)$/, sum) ||
      differsBy(line, /paid (\d+) atoms, the ledger says nothing of it()$/, sum))
  );
}

/** Returns the violations that lost merchants do not explain, to the atom. */
function withoutLost(broken: readonly string[], lost: readonly Lost[]): string[] {
  return lost.length === 0 ? [...broken] : broken.filter((line) => !isOf(line, lost));
}
