/**
 * Test mode runs on the testnet, live mode on mainnet. The caller's key determines the mode
 * (behavior.md 1.2).
 */
export type Network = 'testnet' | 'mainnet';

/** The account and the mode, by which every query is scoped. */
export interface Tenant {
  readonly accountId: string;
  readonly livemode: boolean;
}

export function tenantOf(row: { readonly account_id: string; readonly livemode: boolean }): Tenant {
  return { accountId: row.account_id, livemode: row.livemode };
}

export const NETWORKS: readonly Network[] = ['testnet', 'mainnet'];

export function networkOf(livemode: boolean): Network {
  return livemode ? 'mainnet' : 'testnet';
}

export function isLive(network: Network): boolean {
  return network === 'mainnet';
}
