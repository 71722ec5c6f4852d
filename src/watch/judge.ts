import type { OtherEvent } from '#settlement/contract/contract-events.ts';
import { contractVersionOf, merchantNumberOf } from '#settlement/contract-versions.ts';
import type { UnexplainedRow } from '#settlement/foreign-settlement-queries.ts';
import type { NewStep } from '#watch/watch-queries.ts';

/** Findings of one poll that the ledger does not explain, confirmed by two providers. */
export interface Confirmed {
  readonly moved: readonly UnexplainedRow[];
  readonly rules: readonly OtherEvent[];
  /** Atoms settled or refunded outside this service in the last day, this poll included. */
  readonly foreignSum: bigint;
  /** Ids of executed operations whose scheduling an operator has reviewed. */
  readonly expectedOperations: ReadonlySet<string>;
}

export interface JudgeOptions {
  /** Atoms; settlements and refunds are paused once this sum is reached. */
  readonly pauseFrom: bigint;
}

/** Identifies an event by its transaction and its log index. */
export function placeOf({
  txHash,
  logIndex,
}: {
  readonly txHash: string;
  readonly logIndex: number;
}): string {
  return `${txHash}/${logIndex}`;
}

/** Merchant 0 of a contract stands for the whole contract. */
function pauses(contractVersion: number, reason: string): NewStep[] {
  const merchantNumber = merchantNumberOf(contractVersion, 0);
  return [
    { step: 'pause_settling', merchantNumber, reason },
    { step: 'pause_refunding', merchantNumber, reason },
  ];
}

function firstOfEach<T>(found: readonly T[], contractVersion: (one: T) => number): [number, T][] {
  return [...Map.groupBy(found, contractVersion)].flatMap(([place, [first]]) =>
    first === undefined ? [] : [[place, first] as [number, T]],
  );
}

/**
 * Decides what the watchtower does by itself. Its key can only pause, and drop proposals of
 * registrars. Roles, rates and a higher ceiling only change by operations of the timelock. A
 * withdrawal stops nothing, since the contract cannot pause withdrawals; actions of a merchant's
 * own wallet are not reported as unexplained.
 */
export function judge(found: Confirmed, { pauseFrom }: JudgeOptions): NewStep[] {
  const charged = found.moved.filter(({ kind }) => kind !== 'withdrawal');
  const executed = found.rules.filter(
    ({ name, details }) =>
      name === 'CallExecuted' && !found.expectedOperations.has(String(details.id)),
  );
  const proposals = found.rules.filter(({ name }) => name === 'WalletProposed');
  return [
    ...(found.foreignSum >= pauseFrom
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
