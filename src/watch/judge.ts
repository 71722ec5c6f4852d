import type { OtherEvent } from '#settlement/contract/contract-events.ts';
import { contractVersionOf, merchantNumberOf } from '#settlement/contract-versions.ts';
import type { UnexplainedRow } from '#settlement/foreign-settlement-queries.ts';
import type { NewStep } from '#watch/watch-queries.ts';

/** What was found in one look that nothing of this service explains, as two addresses say. */
export interface Confirmed {
  readonly moved: readonly UnexplainedRow[];
  readonly rules: readonly OtherEvent[];
  /** Atoms settled or refunded past this service since yesterday, this look included. */
  readonly foreignSum: bigint;
  /** Ids of executed operations whose scheduling an operator has looked at. */
  readonly expectedOperations: ReadonlySet<string>;
}

export interface JudgeOptions {
  /** Atoms; from this sum on settling and refunding stop. */
  readonly pauseFrom: bigint;
}

/** One event of the contract: its transaction and its place there. */
export function placeOf({
  txHash,
  logIndex,
}: {
  readonly txHash: string;
  readonly logIndex: number;
}): string {
  return `${txHash}/${logIndex}`;
}

/** Of one contract: its merchant 0 stands for the whole of it. */
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
 * What the watchtower does by itself. Its key can do no more: pause, and drop what registrars
 * propose. Roles, rates and a higher ceiling come by operations of the timelock alone. A withdrawal
 * stops nothing, since the contract has no pause for it; what a merchant's own wallet does is not
 * among what was found.
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
