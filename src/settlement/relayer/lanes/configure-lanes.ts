import { encodeFunctionData, keccak256, toHex } from 'viem';
import { present } from '#core/assert.ts';
import { describeError, type Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { contractsOf } from '#settlement/editions.ts';
import { selectLanes } from '#settlement/lanes.ts';
import type { LaneRole, NetworkConfig } from '#settlement/networks.ts';
import type { ConfiguredLane } from '#settlement/relayer/machine/memory.ts';
import {
  countUnfinished,
  lockConfiguration,
  upsertLane,
} from '#settlement/relayer/rows/lane-queries.ts';
import { type SigningKey, signerOf } from '#settlement/signer.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';

export function configuredLanes(config: NetworkConfig): ConfiguredLane[] {
  const toLane = (role: LaneRole) => (key: SigningKey) => {
    const account = signerOf(key);
    return { address: account.address, role, account, signsElsewhere: typeof key !== 'string' };
  };
  return [
    ...config.relayerKeys.map(toLane('operator')),
    ...(config.registrarKey === null ? [] : [config.registrarKey]).map(toLane('registrar')),
    ...(config.sponsorKey === null ? [] : [config.sponsorKey]).map(toLane('sponsor')),
  ];
}

/** Whether the network has a lane; {@link configuredLanes} derives an address from each key. */
export function hasLanes({ relayerKeys, registrarKey, sponsorKey }: NetworkConfig): boolean {
  return relayerKeys.length > 0 || registrarKey !== null || sponsorKey !== null;
}

interface LanesDeps {
  readonly chain: Chain;
  readonly db: Database;
}

/**
 * For the start of a process: writes the lanes down and checks that their keys may do their work.
 * The service starts even if the chain cannot be reached: the relayer does the same once it
 * answers.
 * @throws StartError when lanes and keys contradict each other.
 */
export async function prepareLanes(deps: LanesDeps & { readonly log: Log }): Promise<void> {
  if (!hasLanes(deps.chain.config)) return;
  try {
    await configureLanes(deps);
    await requireRoles(deps.chain);
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    deps.log.warn('relayer lanes are not checked yet', { error: describeError(error) });
  }
}

/**
 * Writes new lanes down. A lane may leave the configuration only when all of its transactions are
 * final: after a reorganization only its own key can replace what has left the chain.
 * @throws StartError otherwise. @throws RpcUnavailable: a new lane's nonce could not be read.
 */
export async function configureLanes({ db, chain }: LanesDeps): Promise<void> {
  const { livemode, network } = chain.config;
  const wanted = configuredLanes(chain.config);
  if (new Set(wanted.map((lane) => lane.address)).size < wanted.length) {
    throw new StartError(`two relayer keys of ${network} are the same: each lane needs its own`);
  }
  const nonces = await chain.nonces(wanted.map((lane) => lane.address));
  await db.transaction(async (tx) => {
    await lockConfiguration(tx);
    const known = await selectLanes(tx, livemode);
    const roles = new Set(wanted.map((lane) => lane.role));
    // The sponsor's key lives beside the operators'.
    const isOurs = (role: LaneRole) => roles.has(role === 'sponsor' ? 'operator' : role);
    for (const row of known) {
      // Another process has the keys of a role that this one lacks.
      if (!isOurs(row.role)) continue;
      if (wanted.some((one) => one.address === row.address)) continue;
      if ((await countUnfinished(tx, { livemode, lane: row.lane })) === 0) continue;
      throw new StartError(
        `${row.address} has transactions on ${network} that are not final yet: ` +
          'start with its key among the relayer keys until they are',
      );
    }
    for (const [index, { address, role }] of wanted.entries()) {
      const nextNonce = present(nonces[index], 'nonce of a lane');
      await upsertLane(tx, { livemode, address, role, nextNonce });
    }
  });
}

/** null: what it sends, the token or the contract takes from anybody. */
const ROLES: Record<LaneRole, string | null> = {
  operator: 'OPERATOR_ROLE',
  registrar: 'REGISTRAR_ROLE',
  sponsor: null,
};

/**
 * A key without its role would spend gas on nothing but reverts. Former contracts need the same
 * keys, for what is refunded, withdrawn and changed there.
 * @throws StartError naming the first one.
 */
export async function requireRoles(chain: Chain): Promise<void> {
  const { network } = chain.config;
  const lanes = configuredLanes(chain.config).flatMap(({ role, address }) => {
    const name = ROLES[role];
    if (name === null) return [];
    return contractsOf(chain.config).map(({ settlement }) => ({ name, address, settlement }));
  });
  const answers = await chain.calls(
    lanes.map(({ name, address, settlement }) => {
      const args = [keccak256(toHex(name)), address] as const;
      const data = encodeFunctionData({ abi: settlementAbi, functionName: 'hasRole', args });
      return { to: settlement, data, words: 1 };
    }),
  );
  lanes.forEach(({ name, address, settlement }, index) => {
    const answer = answers[index];
    if (answer?.ok === true && BigInt(answer.data) === 1n) return;
    throw new StartError(
      `${address} has no ${name} on the settlement contract ${settlement} of ${network}: ` +
        'let the admin grant it, or configure another key',
    );
  });
}
