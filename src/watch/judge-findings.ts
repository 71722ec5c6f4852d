import type { OtherEvent } from '#settlement/contract/contract-events.ts';
import { contractVersionOf, merchantNumberOf } from '#settlement/contract-versions.ts';
import type { UnexplainedRow } from '#settlement/foreign-settlement-queries.ts';
import type { NewStep } from '#watch/watch-queries.ts';

/** Unexplained findings of one poll, confirmed by two providers. */
export interface Confirmed {
  readonly moved: readonly UnexplainedRow[];
  readonly rules: readonly OtherEvent[];
  /** Atoms settled or refunded outside this service within a day, including this poll. */
  readonly foreignSum: bigint;
  /** Ids of executed operations whose scheduling operators have reviewed. */
  readonly expectedOperations: ReadonlySet<string>;
}

export interface JudgeOptions {
  /** Atoms; settlements and refunds are paused once this sum is reached. */
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

/** Returns the steps that pause a contract. Merchant 0 stands for the whole contract. */
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
 * Decides what the watchtower does on its own. Its key can only pause, and drop proposals of
 * registrars. Roles, rates and a higher ceiling change only by operations of the timelock. A
 * withdrawal pauses nothing, because the contract cannot pause withdrawals. Actions of a merchant's
 * own wallet are not unexplained.
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
