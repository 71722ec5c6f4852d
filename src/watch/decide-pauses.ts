import type { OtherEvent } from '#settlement/contract/contract-events.ts';
import { contractVersionOf, merchantNumberOf } from '#settlement/contract-versions.ts';
import type { UnexplainedRow } from '#settlement/foreign-settlement-queries.ts';
import type { NewStep } from '#watch/watch-queries.ts';

/** Findings of one poll that two providers confirmed and the ledger does not explain. */
export interface Confirmed {
  readonly moved: readonly UnexplainedRow[];
  readonly rules: readonly OtherEvent[];
  /** Atoms settled or refunded outside this service within a day, including this poll. */
  readonly foreignSum: bigint;
  /** Ids of executed operations whose scheduling operators have reviewed. */
  readonly expectedOperations: ReadonlySet<string>;
}

export interface JudgeOptions {
  /** Pauses settlements and refunds once the sum reaches this many atoms. */
  readonly pauseFrom: bigint;
}

/** Returns the position of an event: its transaction and log index. */
export function placeOf({
  txHash,
  logIndex,
}: {
  readonly txHash: string;
  readonly logIndex: number;
}): string {
  return `${txHash}/${logIndex}`;
}

/** Returns the steps that pause a contract. Merchant 0 means the whole contract. */
function pauses(contractVersion: number, reason: string): NewStep[] {
  const merchantNumber = merchantNumberOf(contractVersion, 0);
  return [
    { step: 'pause_settling', merchantNumber, reason },
    { step: 'pause_refunding', merchantNumber, reason },
  ];
}

function firstOfEach<T>(items: readonly T[], contractVersion: (one: T) => number): [number, T][] {
  return [...Map.groupBy(items, contractVersion)].flatMap(([version, [first]]) =>
    first === undefined ? [] : [[version, first] as [number, T]],
  );
}

/**
 * Decides what the watchtower does without an operator. Its key can only pause, and drop
 * registrars' proposals; roles, rates and a higher ceiling change only through the timelock.
 * Withdrawals cause no pause, because the contract cannot pause them. Actions of a merchant's own
 * wallet are expected.
 */
export function judge(findings: Confirmed, { pauseFrom }: JudgeOptions): NewStep[] {
  const charged = findings.moved.filter(({ kind }) => kind !== 'withdrawal');
  const executed = findings.rules.filter(
    ({ name, details }) =>
      name === 'CallExecuted' && !findings.expectedOperations.has(String(details.id)),
  );
  const proposals = findings.rules.filter(({ name }) => name === 'WalletProposed');
  return [
    ...(findings.foreignSum >= pauseFrom
      ? firstOfEach(charged, ({ merchant_number }) => contractVersionOf(merchant_number)).flatMap(
          ([contractVersion, row]) =>
            pauses(contractVersion, `${row.kind} ${row.tx_hash}/${row.log_index}`),
        )
      : []),
    ...firstOfEach(executed, ({ contractVersion }) => contractVersion).flatMap(
      ([contractVersion, event]) => pauses(contractVersion, `${event.name} ${placeOf(event)}`),
    ),
    ...proposals.map((event): NewStep => {
      const merchantNumber = BigInt(Number(event.details.merchant));
      return { step: 'cancel_wallet', merchantNumber, reason: `${event.name} ${placeOf(event)}` };
    }),
  ];
}
