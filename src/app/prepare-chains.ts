import { type Loop, startLoop } from '#core/background-loop.ts';
import type { Undo } from '#core/undo.ts';
import type { Database } from '#db/database.ts';
import type { Log } from '#observability/log.ts';
import type { Config } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { keepOwnContracts, requireSafeContract } from '#settlement/chain/check/check-contract.ts';
import { learnRates } from '#settlement/chain/fees/fee-rates.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { NetworkSettings } from '#settlement/network-config.ts';

/** Opens the chains of both networks, and checks their contracts. */
export async function prepareChains(
  config: Config,
  networks: readonly NetworkSettings[],
  { db, log }: { readonly db: Database; readonly log: Log },
  stops: Undo,
): Promise<Chain[]> {
  const ofRoles = networks.map((network) => withKeysOf(config, network));
  const chains = await Promise.all(ofRoles.map((network) => openChain(network, log)));
  for (const chain of chains) stops.push(chain.close);
  await keepOrder(config, db, chains);
  if (config.production) await requireSafety(config.roles, chains, log);
  if (config.roles.has('watch')) return chains;
  for (const chain of chains) stops.push(startLearningRates(chain).stop);
  return chains;
}

/** Interval at which the fee rates are read. They change only after a timelock. */
const FEE_RATES_POLL_MS = 30_000;

/** Reads a network's fee rates, with which intents show their payer's total. */
function startLearningRates(chain: Chain): Loop {
  return startLoop({
    name: 'reading of fee rates',
    pollMs: FEE_RATES_POLL_MS,
    run: async () => {
      await learnRates(chain);
      return false;
    },
    // Readiness reports a chain that does not answer. Until it does, totals are null.
    onError: () => {},
  });
}

/**
 * Returns only the keys with which this process signs. In production, a worker leaves the
 * registrar's key to a separate process, even if its settings contain that key: a thief of both
 * keys could register a shop and settle payments to it. Outside production, a worker also registers
 * shops.
 */
function withKeysOf({ roles, production }: Config, network: NetworkSettings): NetworkSettings {
  const works = roles.has('worker');
  const registers = roles.has('registrar') || (works && !production);
  return {
    ...network,
    relayerKeys: works ? network.relayerKeys : [],
    registrarKey: registers ? network.registrarKey : null,
    sponsorKey: works ? network.sponsorKey : null,
  };
}

/**
 * Records the order of the contracts on external chains. (An embedded chain is only as old as its
 * data folder.)
 * @throws StartError if the settings omit a contract that the ledger has used, or name one on which
 * another cell settles.
 */
async function keepOrder(
  { chains, roles }: Config,
  db: Database,
  opened: readonly Chain[],
): Promise<void> {
  const external = opened.filter(({ config }) => chains[config.network] !== null);
  if (roles.has('watch')) return;
  for (const chain of external) {
    await keepOwnContracts(db, chain);
  }
}

/**
 * Runs the safety checks of a start in production.
 * @throws StartError
 */
async function requireSafety(
  roles: Config['roles'],
  chains: readonly Chain[],
  log: Log,
): Promise<void> {
  await Promise.all(chains.map((chain) => chain.checkAtStart(() => requireSafeContract(chain))));
  if (!roles.has('worker') || !roles.has('registrar')) return;
  log.warn('one process holds both relayer keys and the registrar key', {
    remedy: 'run --roles api,worker and --roles registrar apart',
  });
}
