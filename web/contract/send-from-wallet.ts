import type { Hex } from '../data/bytes.ts';
import type { Provider } from '../data/injected-wallets.ts';

/** Connects to the user's own wallet (EIP-1193), which signs, sends and queries its own node. */

/** Time-out for a block. After it, the page shows that the transaction is still pending. */
const TIMEOUT_MS = 120_000;
const POLL_MS = 1_000;

export class OtherChain extends Error {}

/** Connects to the wallet on this chain. @throws OtherChain, or whatever the wallet throws. */
export async function connectTo(provider: Provider, chainId: number): Promise<Hex> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof first !== 'string') throw new Error('The wallet names no address.');
  const isThere = async () => Number(await provider.request({ method: 'eth_chainId' })) === chainId;
  if (await isThere()) return first as Hex;
  const params = [{ chainId: `0x${chainId.toString(16)}` }];
  await provider.request({ method: 'wallet_switchEthereumChain', params }).catch(() => null);
  if (!(await isThere())) throw new OtherChain();
  return first as Hex;
}

export interface Sending {
  readonly provider: Provider;
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/**
 * True if the contract would accept the transaction. Otherwise the transaction would revert, and
 * still cost gas.
 */
export async function wouldBeTaken({ provider, from, to, data }: Sending): Promise<boolean> {
  const params = [{ from, to, data }, 'latest'];
  return provider.request({ method: 'eth_call', params }).then(
    () => true,
    () => false,
  );
}

/** Sends a transaction. @returns the result; `unknown` if it was sent but is not in a block yet. */
export async function send(sending: Sending): Promise<'done' | 'refused' | 'unknown'> {
  const { provider, from, to, data } = sending;
  const hash = await provider.request({
    method: 'eth_sendTransaction',
    params: [{ from, to, data }],
  });
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; ) {
    const call = { method: 'eth_getTransactionReceipt', params: [hash] };
    const receipt = (await provider.request(call).catch(() => null)) as {
      readonly status?: string;
    } | null;
    if (receipt?.status !== undefined) return Number(receipt.status) === 1 ? 'done' : 'refused';
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return 'unknown';
}
