import { keep, kept, type Network } from './wallet-storage.ts';

/** Stores the balance, with which a payment without a connection is compared. */
export function rememberBalance(network: Network, address: string, balance: bigint): void {
  const all = kept('balances');
  const before = all[network];
  const atoms = balance.toString();
  if (before?.address === address && before.atoms === atoms) return;
  keep('balances', { ...all, [network]: { address, atoms } });
}

/**
 * Returns what the wallet held when it last read its balance, less what it has signed offline
 * since; `null` if that is not known. A payment that no till has forwarded yet is not in a later
 * balance, so this only serves for a warning.
 */
export function balanceOf(network: Network, address: string): bigint | null {
  const known = kept('balances')[network];
  return known === undefined || known.address !== address ? null : BigInt(known.atoms);
}
