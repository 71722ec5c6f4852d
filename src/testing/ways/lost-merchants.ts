import type { PaymentSettled } from '#settlement/contract/contract-events.ts';

/** A settlement for a merchant whose account was lost: nobody is left to book it for. */
export type Lost = PaymentSettled;

function takenFor({ amount, feeAcquirer, feeProtocol, cashback }: Lost): bigint {
  return amount + feeAcquirer + feeProtocol - cashback;
}

/** `A … B` differ by exactly this sum, so that nothing else hides behind it. */
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

/** What is left of what is broken when lost merchants explain their part, to the atom. */
export function withoutLost(broken: readonly string[], lost: readonly Lost[]): string[] {
  return lost.length === 0 ? [...broken] : broken.filter((line) => !isOf(line, lost));
}
