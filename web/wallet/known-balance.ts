import { keep, kept, type Network } from './wallet-storage.ts';

/** Stores the balance, against which an offline payment is checked. */
export function rememberBalance(network: Network, address: string, balance: bigint): void {
  const all = kept('balances');
  const before = all[network];
  const atoms = balance.toString();
  if (before?.address === address && before.atoms === atoms) return;
  keep('balances', { ...all, [network]: { address, atoms } });
}

/**
 * Returns the wallet's last known balance in atoms, minus the amounts that it has signed offline
 * since; `null` if unknown. Use it for a warning only: it does not include payments that no till
 * has forwarded yet.
 */
export function balanceOf(network: Network, address: string): bigint | null {
  const known = kept('balances')[network];
  return known === undefined || known.address !== address ? null : BigInt(known.atoms);
}
