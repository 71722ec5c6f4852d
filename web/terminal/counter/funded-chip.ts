import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { valueIn } from '../../data/api.ts';
import { createNonce, createPayerApi, listNetworks, signInPayer } from '../../data/payer.ts';
import { fromRoot } from '../../data/root.ts';
import { signInText } from '../../wallet/account.ts';
import type { Thing } from './field.ts';
import { haloChip } from './halo-chip.ts';

/** It holds test money only, so it may lie open in this browser. */
const KEY = 'tapline.terminal.virtual-card';
/** Below this the card gets more: enough for a coffee. */
const LEAST_ATOMS = 20_000_000;

function keptKey(): `0x${string}` {
  const kept = localStorage.getItem(KEY);
  if (kept !== null && /^0x[0-9a-f]{64}$/.test(kept)) return kept as `0x${string}`;
  const made = generatePrivateKey();
  localStorage.setItem(KEY, made);
  return made;
}

/**
 * The virtual counter's card with some test USDC on it, which the sandbox gives to any wallet that
 * asks.
 *
 * @param pin null: it signs for whoever holds it.
 * @throws ApiFailure where the service says no, or cannot be reached.
 */
export async function fundedChip(pin: string | null): Promise<Thing> {
  const account = privateKeyToAccount(keptKey());
  const [networks, { nonce }] = await Promise.all([
    listNetworks().then(valueIn),
    createNonce().then(valueIn),
  ]);
  const test = networks.data.find(({ network }) => network === 'testnet');
  if (test === undefined) throw new Error('The service names no test network.');
  const message = signInText({ address: account.address, chainId: test.chain_id, nonce });
  const signature = await account.signMessage({ message });
  const { token } = valueIn(await signInPayer({ message, signature }));
  const api = createPayerApi(token, { onEnded: () => {}, signAgain: async () => false });
  const { balance } = valueIn(await api.wallet());
  if (balance < LEAST_ATOMS) valueIn(await api.faucet());
  void api.signOut();
  return haloChip(account, fromRoot('chip').href, pin);
}
