/** Test mode runs on the testnet, live mode on mainnet; the key chooses (behavior.md 1.2). */
export type Network = 'testnet' | 'mainnet';

/** Every query is scoped by these two. */
export interface Tenant {
  readonly accountId: string;
  readonly livemode: boolean;
}

export const NETWORKS: readonly Network[] = ['testnet', 'mainnet'];

export function networkOf(livemode: boolean): Network {
  return livemode ? 'mainnet' : 'testnet';
}

export function isLive(network: Network): boolean {
  return network === 'mainnet';
}
