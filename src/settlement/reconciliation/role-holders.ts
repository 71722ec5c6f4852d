import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Announced } from '#settlement/chain/read/contract-state.ts';
import { ratesUntilOf, readOperations } from '#settlement/chain/read/timelock-operations.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type RoleName, roleName } from '#settlement/contract/contract-roles.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { contractVersionAt } from '#settlement/contract-versions.ts';
import { timelockAbi } from '../../../contracts/artifacts/Timelock.ts';

export interface RoleHolder {
  /** `null` for a role that this release does not know. */
  readonly role: RoleName | null;
  readonly account: Hex;
  /** The time of the block that granted the role; `null` if no node has that block. */
  readonly since: Date | null;
}

export interface Roles {
  /** The role holders of the contract and of its timelock. */
  readonly holders: readonly RoleHolder[];
  /** Pending operations: each can be executed after its delay, unless a guardian cancels it. */
  readonly announced: readonly Announced[];
  /**
   * The time at which the first operation that changes rates can be executed; `null` if there is
   * none.
   */
  readonly ratesUntil: Date | null;
}

interface EventRow {
  readonly role: Hex;
  readonly account: Hex;
  readonly on_timelock: boolean;
  readonly granted_in: bigint;
}

interface Place {
  readonly livemode: boolean;
  readonly contractVersion: number;
}

/**
 * Returns every pair of role and account that was ever granted. Each grant raises an alarm
 * (`note-contract-changes.ts`), including those at the deployment, and alarms are never deleted.
 */
async function selectPairs(sql: Sql, { livemode, contractVersion }: Place): Promise<EventRow[]> {
  return sql.query(
    `select details ->> 'role' as role, details ->> 'account' as account,
       details ->> 'event' = 'TimelockRoleGranted' as on_timelock,
       max((details ->> 'block_number')::bigint) as granted_in
     from chain_alarms
     where livemode = $1 and kind = 'contract_changed'
       and details ->> 'event' in ('RoleGranted', 'TimelockRoleGranted')
       and (details ->> 'contract_version')::int = $2
     group by 1, 2, 3 order by 1, min(id)`,
    [livemode, contractVersion],
  );
}

const HAS_ROLE = { abi: timelockAbi, functionName: 'hasRole' } as const;

/**
 * Reads the role holders of a contract and its timelock, and the pending operations. Alarm rows
 * supply the candidates, and the contracts confirm them.
 * @throws RpcUnavailable
 */
export async function readRoles(sql: Sql, chain: Chain, settlement: Hex): Promise<Roles> {
  const { livemode } = chain.config;
  const contractVersion = present(
    contractVersionAt(chain.config, settlement),
    'version of a contract',
  );
  const contract = { livemode, contractVersion };
  const pairs = await selectPairs(sql, contract);
  const timelock = timelockOf(settlement);
  const answers = await chain.calls(
    pairs.map(({ role, account, on_timelock }) => ({
      to: on_timelock ? timelock : settlement,
      data: encodeFunctionData({ ...HAS_ROLE, args: [role, account] }),
      words: 1,
    })),
  );
  const held = pairs.filter((_, index) =>
    decodeView(answers[index], (data) => decodeFunctionResult({ ...HAS_ROLE, data })),
  );
  const times = await chain.blocks(held.map(({ granted_in: block }) => block));
  const waiting = await readOperations(sql, chain, settlement);
  return {
    ratesUntil: ratesUntilOf(waiting),
    holders: held.map(({ role, account }, index) => {
      return { role: roleName(role), account, since: times[index]?.time ?? null };
    }),
    announced: waiting,
  };
}
