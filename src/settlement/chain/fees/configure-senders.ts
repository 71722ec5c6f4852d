import { encodeFunctionData, keccak256, toHex } from 'viem';
import { present } from '#core/assert.ts';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig, SenderRole } from '#settlement/network-config.ts';
import { type Signer, type SigningKey, signerOf } from '#settlement/remote-signer.ts';
import {
  countUnfinished,
  lockConfiguration,
  selectSenders,
  upsertSender,
} from '#settlement/sender-rows.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';

/**
 * A sender, identified by its address, because nonces belong to the address and not to an index.
 */
export interface ConfiguredSender {
  readonly address: Hex;
  readonly role: SenderRole;
  readonly account: Signer;
  /** True if a remote signer signs for this sender; the signer may be unreachable. */
  readonly signsElsewhere: boolean;
}

interface Deps {
  readonly chain: Chain;
  readonly db: Database;
}

export function configuredSenders(config: NetworkConfig): ConfiguredSender[] {
  const toSender = (role: SenderRole) => (key: SigningKey) => {
    const account = signerOf(key);
    return { address: account.address, role, account, signsElsewhere: typeof key !== 'string' };
  };
  return [
    ...config.relayerKeys.map(toSender('operator')),
    ...(config.registrarKey === null ? [] : [config.registrarKey]).map(toSender('registrar')),
    ...(config.sponsorKey === null ? [] : [config.sponsorKey]).map(toSender('sponsor')),
  ];
}

/** Like {@link configuredSenders}, without deriving an address from each key. */
export function hasSenders({ relayerKeys, registrarKey, sponsorKey }: NetworkConfig): boolean {
  return relayerKeys.length > 0 || registrarKey !== null || sponsorKey !== null;
}

/**
 * Stores the senders and checks that their keys have the necessary roles. If no node answers, the
 * service starts anyway: the relayer stores the senders, and the chain repeats the check, once a
 * node answers.
 * @throws StartError when senders and keys contradict each other.
 */
export async function prepareSenders(deps: Deps): Promise<void> {
  const { chain } = deps;
  if (!hasSenders(chain.config)) return;
  try {
    await configureSenders(deps);
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
  }
  await chain.checkAtStart(() => requireRoles(chain));
}

/**
 * A sender may be removed from the settings only when all its transactions are final, because after
 * a reorganization only its own key can replace them.
 * @throws StartError otherwise.
 * @throws RpcUnavailable if a new sender's nonce could not be read.
 */
export async function configureSenders({ db, chain }: Deps) {
  const { livemode, network } = chain.config;
  const senders = configuredSenders(chain.config);
  if (new Set(senders.map((sender) => sender.address)).size < senders.length) {
    throw new StartError(
      `two of the relayer, registrar and sponsor keys of ${network} are the same: each sender ` +
        'needs its own key',
    );
  }
  const nonces = await chain.nonces(senders.map((sender) => sender.address));
  await db.transaction(async (tx) => {
    await lockConfiguration(tx);
    const known = await selectSenders(tx, livemode);
    const roles = new Set(senders.map((sender) => sender.role));
    // The operators' process also holds the sponsor's key.
    const isOurs = (role: SenderRole) => roles.has(role === 'sponsor' ? 'operator' : role);
    for (const row of known) {
      // Another process holds the keys of this role.
      if (!isOurs(row.role)) continue;
      if (senders.some((one) => one.address === row.address)) continue;
      if ((await countUnfinished(tx, { livemode, sender: row.sender })) === 0) continue;
      throw new StartError(
        `${row.address} has transactions on ${network} that are not final yet: ` +
          'keep its key among the relayer keys until they are',
      );
    }
    for (const [index, { address, role }] of senders.entries()) {
      const nextNonce = present(nonces[index], 'nonce of a sender');
      await upsertSender(tx, { livemode, address, role, nextNonce });
    }
  });
}

/** The contract role that each sender needs; `null` if any account may make the sender's calls. */
const ROLES: Record<SenderRole, string | null> = {
  operator: 'OPERATOR_ROLE',
  registrar: 'REGISTRAR_ROLE',
  sponsor: null,
};

/**
 * Checks that each sender has its role, because a key without its role would only waste gas.
 * Previous contracts must know the same keys, for refunds, withdrawals and changes there.
 * @throws StartError naming the first key without its role.
 */
export async function requireRoles(chain: Chain): Promise<void> {
  const { network } = chain.config;
  const senders = configuredSenders(chain.config).flatMap(({ role, address }) => {
    const name = ROLES[role];
    if (name === null) return [];
    return contractsOf(chain.config).map(({ settlement }) => ({ name, address, settlement }));
  });
  const answers = await chain.calls(
    senders.map(({ name, address, settlement }) => {
      const args = [keccak256(toHex(name)), address] as const;
      const data = encodeFunctionData({ abi: settlementAbi, functionName: 'hasRole', args });
      return { to: settlement, data, words: 1 };
    }),
  );
  senders.forEach(({ name, address, settlement }, index) => {
    const answer = answers[index];
    if (answer?.ok === true && BigInt(answer.data) === 1n) return;
    throw new StartError(
      `${address} has no ${name} on the settlement contract ${settlement} of ${network}: ` +
        'have the admin grant it, or configure another key',
    );
  });
}
