import { StartError } from '#core/start-error.ts';
import { webUrlOf } from '#core/web-url.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { selectOperatorMailboxes } from '#ops/audit-anchor-queries.ts';
import { mailMovements, mailProposal } from '#payouts/foreign-wallet-mails.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { Config } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { StepName } from '#watch/watch-queries.ts';
import { type FoundPast, startWatchtower } from '#watch/watchtower.ts';

interface WatchRole {
  readonly config: Pick<Config, 'watch' | 'databaseUrl' | 'chains' | 'publicUrl' | 'port' | 'lan'>;
  readonly chains: readonly Chain[];
  /** Encrypts queued mails. */
  readonly peopleKey: Buffer;
}

/** Returns one network config per address, because each address must confirm the others. */
function byAddress(config: NetworkConfig): NetworkConfig[] {
  const { rpcUrls, rpcHeaders, rpcTimeoutsMs } = config;
  return rpcUrls.map((url, at) => ({
    ...config,
    rpcUrls: [url],
    rpcHeaders: rpcHeaders.slice(at, at + 1),
    rpcTimeoutsMs: [rpcTimeoutsMs[at] ?? rpcTimeoutsMs.at(-1) ?? 0],
  }));
}

/**
 * Watches the contracts of both networks.
 * @throws StartError without an external database and chains.
 */
export async function startWatchtowers(
  ctx: ProcessContext,
  { config, chains: ownChains, peopleKey }: WatchRole,
): Promise<{ stop(): Promise<void> }> {
  const { log } = ctx;
  const { testnet, mainnet } = config.chains;
  if (config.databaseUrl === null || testnet === null || mainnet === null) {
    throw new StartError('--roles watch needs DATABASE_URL and the settings of both chains');
  }
  const webUrl = webUrlOf(config);
  const notifyMerchant = mailProposal({ secretKey: peopleKey, webUrl });
  const notifyOwners = mailMovements(peopleKey);
  const alertOperators = mailOperators(peopleKey);
  const opened: Chain[] = [];
  const towers: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(towers.map((tower) => tower.stop()));
    await Promise.all(opened.map((chain) => chain.close()));
  };
  try {
    for (const { config: ofNetwork } of ownChains) {
      const { network } = ofNetwork;
      const chains = await Promise.all(byAddress(ofNetwork).map((one) => openChain(one, log)));
      opened.push(...chains);
      const [first, ...others] = chains;
      if (first === undefined) throw new StartError(`${network} has no node address`);
      const { key: watchKey, pauseFrom } = config.watch[network];
      log.info(describeWatch({ network, addresses: chains.length, stops: watchKey !== null }));
      const own = { watchKey, pauseFrom, notifyMerchant, notifyOwners, alertOperators };
      towers.push(startWatchtower({ ...ctx, ...own, chains: [first, ...others] }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/**
 * Returns a function that mails alarms to the operators, because they may not be watching the
 * console.
 */
function mailOperators(secretKey: Buffer) {
  return async (tx: Tx, { network, lines, steps }: FoundPast, now: Date): Promise<void> => {
    const does =
      steps.length === 0
        ? 'It stops nothing by itself.'
        : `It is doing this now: ${steps.map((step) => STEP_WORDS[step]).join(', ')}.`;
    const text =
      `The watchtower of ${network} found activity that this service did not cause:\n\n` +
      `${lines.join('\n')}\n\n${does} The alarms name each event. Section 9 of operate.md says ` +
      'what to do.\n';
    const subject = `Activity outside Tapline on ${network}`;
    for (const to of await selectOperatorMailboxes(tx)) {
      await queueMail(tx, secretKey, { to, subject, text, now });
    }
  };
}

const STEP_WORDS: Readonly<Record<StepName, string>> = {
  pause_settling: 'settling is paused',
  pause_refunding: 'refunds are paused',
  cancel_wallet: 'the announced wallet is canceled',
};

function describeWatch(tower: {
  readonly network: string;
  readonly addresses: number;
  readonly stops: boolean;
}): string {
  const { network, addresses, stops } = tower;
  if (!stops) return `${network}: the watchtower only reports, because it has no key`;
  if (addresses < 2)
    return `${network}: the watchtower only reports, because it has only one RPC address`;
  return `${network}: the watchtower reports, and stops what two RPC addresses confirm`;
}
