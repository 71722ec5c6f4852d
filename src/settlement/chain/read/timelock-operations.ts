import { decodeFunctionResult, encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem';
import { present } from '#core/assert.ts';
import { SECOND_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Announced } from '#settlement/chain/read/contract-state.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { contractVersionAt } from '#settlement/contract-versions.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';
import { timelockAbi } from '../../../../contracts/artifacts/Timelock.ts';

interface OperationRow {
  readonly operation: Hex;
  readonly says: string;
  readonly changes_rates: boolean;
}

const SET_RATES = toFunctionSelector(getAbiItem({ abi: settlementAbi, name: 'setRates' }));

/**
 * Returns every operation that was ever scheduled. Each scheduled call raised an alarm, and alarms
 * are kept.
 */
async function selectOperations(
  sql: Sql,
  { livemode, contractVersion }: { readonly livemode: boolean; readonly contractVersion: number },
  settlement: Hex,
): Promise<OperationRow[]> {
  return sql.query(
    `select details ->> 'id' as operation,
       string_agg(details ->> 'says', ' ' order by (details ->> 'index')::int, id) as says,
       bool_or(lower(details ->> 'target') = lower($3)
         and starts_with(details ->> 'data', $4)) as changes_rates
     from chain_alarms
     where livemode = $1 and kind = 'contract_changed' and details ->> 'event' = 'CallScheduled'
       and (details ->> 'contract_version')::int = $2
     group by 1 order by min(id)`,
    [livemode, contractVersion, settlement, SET_RATES],
  );
}

const IS_PENDING = { abi: timelockAbi, functionName: 'isOperationPending' } as const;
const READY_AT = { abi: timelockAbi, functionName: 'getTimestamp' } as const;

/** A timelock operation that is scheduled and not executed yet. */
interface Operation extends Announced {
  readonly changesRates: boolean;
}

/** Returns when the first operation that changes rates can be executed; `null` if none can. */
export function ratesUntilOf(operations: readonly Operation[]): Date | null {
  const changes = operations.filter(({ changesRates }) => changesRates);
  const times = changes.map(({ applicableAt }) => applicableAt.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/**
 * Reads the pending operations of a contract's timelock. Alarm rows supply the candidates, and the
 * timelock confirms them.
 * @throws RpcUnavailable
 */
export async function readOperations(
  sql: Sql,
  chain: Chain,
  settlement: Hex,
): Promise<Operation[]> {
  const { livemode } = chain.config;
  const contractVersion = present(
    contractVersionAt(chain.config, settlement),
    'version of a contract',
  );
  const operations = await selectOperations(sql, { livemode, contractVersion }, settlement);
  const timelock = timelockOf(settlement);
  const ask = (view: typeof IS_PENDING | typeof READY_AT) =>
    chain.calls(
      operations.map(({ operation }) => {
        const data = encodeFunctionData({ ...view, args: [operation] } as never);
        return { to: timelock, data, words: 1 };
      }),
    );
  const [pending, times] = [await ask(IS_PENDING), await ask(READY_AT)];
  return operations.flatMap(({ operation, says, changes_rates: changesRates }, index) => {
    const waits = decodeView(pending[index], (data) =>
      decodeFunctionResult({ ...IS_PENDING, data }),
    );
    if (!waits) return [];
    const at = decodeView(times[index], (data) => decodeFunctionResult({ ...READY_AT, data }));
    const applicableAt = new Date(Number(at) * SECOND_MS);
    return [{ operation, says, by: timelock, applicableAt, changesRates }];
  });
}
