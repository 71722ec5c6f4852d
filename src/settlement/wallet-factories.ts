import type { Hex } from '#settlement/chain-requests.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/**
 * True if the operator has listed this factory of contract wallets. Always false for our own
 * contracts: senders may have roles there, and payers choose the call.
 */
export function isListedFactory(config: NetworkConfig, factory: Hex): boolean {
  const is = (other: Hex) => other.toLowerCase() === factory.toLowerCase();
  const ours = [config.usdc, ...contractsOf(config).map(({ settlement }) => settlement)];
  return config.walletFactories.some(is) && !ours.some(is);
}
