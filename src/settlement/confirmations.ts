import { StartError } from '#core/start-error.ts';
import type { NetworkConfig } from '#settlement/networks.ts';

type Confirmations = Pick<NetworkConfig, 'confirmations' | 'receiptWitnesses'>;

/**
 * When a payment counts on a chain that is not our own: at inclusion where two addresses can
 * confirm it, one block later where there is only one. `asked`: the setting; null: it is not set.
 * @throws StartError: success at inclusion on the word of a single address.
 */
export function confirmationsFor(
  asked: number | null,
  network: { readonly rpcUrls: readonly string[]; readonly prefix: string },
): Confirmations {
  const hosts = new Set(network.rpcUrls.map((url) => new URL(url).host)).size;
  const confirmations = asked ?? (hosts > 1 ? 0 : 1);
  if (confirmations > 0) return { confirmations, receiptWitnesses: 1 };
  if (hosts > 1) return { confirmations, receiptWitnesses: 2 };
  throw new StartError(
    `${network.prefix}CONFIRMATIONS=0 needs two addresses of different hosts in ` +
      `${network.prefix}RPC_URL, whose receipts agree: add one, or leave the setting out`,
  );
}

/** One line for people. */
export function whenItCounts(config: Confirmations & Pick<NetworkConfig, 'network'>): string {
  const { network, confirmations, receiptWitnesses } = config;
  const payments = `${network}: a payment counts`;
  if (receiptWitnesses > 1) {
    return `${payments} at inclusion, once two addresses name the same block (confirmations 0)`;
  }
  if (confirmations === 0) return `${payments} at inclusion (confirmations 0)`;
  const blocks = confirmations === 1 ? 'block lies' : 'blocks lie';
  return `${payments} when ${confirmations} ${blocks} on top of its own`;
}
