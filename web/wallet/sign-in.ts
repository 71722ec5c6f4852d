import { valueIn } from '../data/api.ts';
import { createNonce, listNetworks, signInPayer, signPayerAgain } from '../data/payer-api.ts';
import type { Account } from './private-key-account.ts';
import { keep, kept, type Network } from './wallet-storage.ts';

/**
 * Signs in with an EIP-4361 message that names this site and chain.
 *
 * @param target `null` for the network that the service lists first. @throws ApiFailure,
 * OtherContracts
 */
export async function signIn(account: Account, target: Network | null): Promise<void> {
  const [networks, { nonce }, { signInText }, { checkNetworks }] = await Promise.all([
    listNetworks().then(valueIn),
    createNonce().then(valueIn),
    import('./private-key-account.ts'),
    import('./pinned-contracts.ts'),
  ]);
  const chosen = networks.data.find(({ network }) => network === target) ?? networks.data[0];
  if (chosen === undefined) throw new Error('The service names no network.');
  checkNetworks(networks.data, chosen);
  const { address } = account;
  const message = signInText({ address, chainId: chosen.chain_id, nonce });
  const signature = await account.signMessage({ message });
  const session = valueIn(await signInPayer({ message, signature }));
  const { token, expires_at: expiresAt } = session;
  keep('sessions', { ...kept('sessions'), [chosen.network]: { token, expiresAt, address } });
  keep('network', chosen.network);
}

/**
 * Signs again for an existing session, whose token stays valid. Uses the pinned chain, whatever
 * chain the service names.
 * @throws ApiFailure
 */
export async function signAgain(
  account: Account,
  session: { readonly network: Network; readonly token: string },
): Promise<void> {
  const [{ nonce }, { signInText }] = await Promise.all([
    createNonce().then(valueIn),
    import('./private-key-account.ts'),
  ]);
  const chain = kept('chains')[session.network];
  if (chain === undefined) throw new Error('No contracts are known of this network.');
  const message = signInText({ address: account.address, chainId: chain.chainId, nonce });
  const signature = await account.signMessage({ message });
  valueIn(await signPayerAgain(session.token, { message, signature }));
}

/** Removes the session after the service or the user has ended it. */
export function dropSession(network: Network): void {
  const { [network]: _, ...rest } = kept('sessions');
  keep('sessions', rest);
}
