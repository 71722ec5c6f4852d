import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { valueIn } from '../../data/api.ts';
import { createNonce, createPayerApi, listNetworks, signInPayer } from '../../data/payer-api.ts';
import { fromRoot } from '../../data/root-path.ts';
import { signInText } from '../../wallet/private-key-account.ts';
import { haloChip } from './virtual-halo-chip.ts';
import type { Thing } from './virtual-nfc-field.ts';

/** Test money only, so the key may be stored in plain text in this browser. */
const KEY = 'tapline.terminal.virtual-card';
/** Below this balance the card gets more test USDC: enough for a coffee. */
const LEAST_ATOMS = 20_000_000;

function keptKey(): `0x${string}` {
  const kept = localStorage.getItem(KEY);
  if (kept !== null && /^0x[0-9a-f]{64}$/.test(kept)) return kept as `0x${string}`;
  const made = generatePrivateKey();
  localStorage.setItem(KEY, made);
  return made;
}

/**
 * Returns the virtual counter's card, funded with test USDC from the sandbox's faucet.
 * @param pin `null` for a card that signs without a PIN.
 * @throws ApiFailure if the service refuses or cannot be reached.
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
