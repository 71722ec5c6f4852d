import { StartError } from '#core/start-error.ts';
import type { Finality } from '#settlement/chain-profiles.ts';
import type { CountsRule, NetworkConfig } from '#settlement/network-config.ts';

/** The confirmations after which a payment counts: a number of blocks, or a time. */
export interface Depth {
  readonly blocks: number;
  readonly ms: number;
}

/**
 * The longest wait that an operator can set. Customers do not stay at a counter longer than this,
 * so a longer wait would only delay the ledger.
 */
export const MAX_WAIT_MS = 600_000;

type Confirmations = Pick<NetworkConfig, 'confirmations' | 'confirmationsMs' | 'receiptProviders'>;

interface Reached {
  readonly rpcUrls: readonly string[];
  readonly prefix: string;
  readonly finality: Finality;
}

/**
 * Returns when a payment counts on a chain that the service does not run itself. If `requested`
 * (the operator's setting) is `null`: at inclusion if two providers can confirm it or if blocks
 * cannot be undone; otherwise one block later.
 * @throws StartError if success at inclusion is set with a single provider.
 */
export function confirmationsFor(requested: Depth | null, network: Reached): Confirmations {
  const hosts = new Set(network.rpcUrls.map((url) => new URL(url).host)).size;
  const isCertain = network.finality === 'deterministic';
  const { blocks: confirmations, ms: confirmationsMs } = requested ?? {
    blocks: hosts > 1 || isCertain ? 0 : 1,
    ms: 0,
  };
  const depth = { confirmations, confirmationsMs };
  if (confirmations > 0 || confirmationsMs > 0) return { ...depth, receiptProviders: 1 };
  if (hosts > 1) return { ...depth, receiptProviders: 2 };
  if (isCertain) return { ...depth, receiptProviders: 1 };
  throw new StartError(
    `${network.prefix}CONFIRMATIONS=0 needs two URLs with different hosts in ` +
      `${network.prefix}RPC_URL, whose receipts agree: add one, or leave the setting out`,
  );
}

/** Describes in one log line when a payment counts. */
export function whenItCounts(
  config: Confirmations & Pick<NetworkConfig, 'network' | 'countsFrom'>,
): string {
  const larger = config.countsFrom
    .filter(({ waitsFor }) => waitsFor !== 'inclusion')
    .map((rule) => `; from ${rule.from} atoms ${waitWords(rule)}`);
  return `${config.network}: a payment counts ${baseWords(config)}${larger.join('')}`;
}

function baseWords({ confirmations, confirmationsMs, receiptProviders }: Confirmations): string {
  if (receiptProviders > 1) {
    return 'at inclusion, once two addresses name the same block (confirmations 0)';
  }
  if (confirmationsMs > 0) return `when ${confirmationsMs} ms of blocks follow its own`;
  if (confirmations === 0) return 'at inclusion (confirmations 0)';
  const blocks = confirmations === 1 ? 'block follows' : 'blocks follow';
  return `when ${confirmations} ${blocks} its own`;
}

function waitWords({ waitsFor, ms }: CountsRule): string {
  return waitsFor === 'time' ? `${ms} ms later` : `when its block is ${waitsFor}`;
}
