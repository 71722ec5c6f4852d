import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Announced } from '#settlement/chain/contract-state.ts';
import { decodeView } from '#settlement/chain/decode.ts';
import { type RoleName, roleName } from '#settlement/contract/roles.ts';
import { editionAt } from '#settlement/editions.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/** An address that may do what its role allows. */
export interface RoleHolder {
  /** null: a role that this release does not know. */
  readonly role: RoleName | null;
  readonly account: Hex;
  /** The time of the block that granted it; null: no node has that block. */
  readonly since: Date | null;
}

export interface Roles {
  readonly holders: readonly RoleHolder[];
  /** Grants that come into force unless somebody stops them. */
  readonly announced: readonly Announced[];
}

interface EventRow {
  readonly role: Hex;
  readonly account: Hex;
  /** When the last grant was made; null: it was only announced. */
  readonly granted_in: bigint | null;
}

/**
 * Every pair of role and account that was ever granted or announced. Each such event is an alarm,
 * also of the deployment (`note-rules.ts`), and alarms are kept.
 */
async function selectPairs(
  sql: Sql,
  { livemode, edition }: { readonly livemode: boolean; readonly edition: number },
): Promise<EventRow[]> {
  return sql.query(
    `select details ->> 'role' as role, details ->> 'account' as account,
       max((details ->> 'block_number')::bigint)
         filter (where details ->> 'event' = 'RoleGranted') as granted_in
     from chain_alarms
     where livemode = $1 and kind = 'contract_changed'
       and details ->> 'event' in ('RoleGranted', 'GrantAnnounced')
       -- Alarms of earlier releases name no contract: there was one.
       and coalesce(details ->> 'edition', '0')::int = $2
     group by 1, 2 order by 1, min(id)`,
    [livemode, edition],
  );
}

const SECOND_MS = 1_000;

/**
 * Who holds which role of a contract. The rows say whom to ask about, and the contract whether it
 * is so now.
 *
 * @param admin who alone announces grants. @throws RpcUnavailable
 */
export async function readRoles(
  sql: Sql,
  chain: Chain,
  { settlement, admin }: { readonly settlement: Hex; readonly admin: Hex },
): Promise<Roles> {
  const { livemode } = chain.config;
  const edition = present(editionAt(chain.config, settlement), 'edition of a contract');
  const pairs = await selectPairs(sql, { livemode, edition });
  const holds = await askOfEach(chain, settlement, { pairs, functionName: 'hasRole' });
  const asked = { pairs, functionName: 'announcedGrant' } as const;
  const announcedAt = await askOfEach(chain, settlement, asked);
  const held = pairs.filter((_, index) => holds[index] === true);
  const blocks = held.map(({ granted_in: block }) => block ?? 0n);
  const times = await chain.blocks(blocks);
  return {
    holders: held.map(({ role, account }, index) => {
      return { role: roleName(role), account, since: times[index]?.time ?? null };
    }),
    announced: pairs.flatMap(({ role, account }, index) => {
      const at = Number(announcedAt[index] ?? 0);
      if (at === 0) return [];
      const says = `${account} becomes ${roleName(role) ?? role}.`;
      return [{ says, by: admin, applicableAt: new Date(at * SECOND_MS) }];
    }),
  };
}

async function askOfEach(
  chain: Chain,
  settlement: Hex,
  {
    pairs,
    functionName,
  }: {
    readonly pairs: readonly EventRow[];
    readonly functionName: 'hasRole' | 'announcedGrant';
  },
): Promise<(boolean | number)[]> {
  const view = { abi: settlementAbi, functionName } as const;
  const answers = await chain.calls(
    pairs.map(({ role, account }) => ({
      to: settlement,
      data: encodeFunctionData({ ...view, args: [role, account] }),
      words: 1,
    })),
  );
  return answers.map((answer) =>
    decodeView(answer, (data) => decodeFunctionResult({ ...view, data })),
  );
}
