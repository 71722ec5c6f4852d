import type { Provider } from '../pay/ethereum.ts';
import type { Hex } from '../wallet/bytes.ts';

/** The reader's own wallet (EIP-1193): it signs, sends, and asks its own node. */

/** How long a person waits for a block before the page says that it goes on by itself. */
const PATIENCE_MS = 120_000;
const POLL_MS = 1_000;

export class OtherChain extends Error {}

/** @throws OtherChain, or what the wallet throws. */
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

/** Whether the contract would take it: a refusal would cost coin. */
export async function wouldBeTaken({ provider, from, to, data }: Sending): Promise<boolean> {
  const params = [{ from, to, data }, 'latest'];
  return provider.request({ method: 'eth_call', params }).then(
    () => true,
    () => false,
  );
}

/** @returns what became of it; `unknown`: it is sent, and in no block yet. */
export async function send(sending: Sending): Promise<'done' | 'refused' | 'unknown'> {
  const { provider, from, to, data } = sending;
  const hash = await provider.request({
    method: 'eth_sendTransaction',
    params: [{ from, to, data }],
  });
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const asked = { method: 'eth_getTransactionReceipt', params: [hash] };
    const receipt = (await provider.request(asked).catch(() => null)) as {
      readonly status?: string;
    } | null;
    if (receipt?.status !== undefined) return Number(receipt.status) === 1 ? 'done' : 'refused';
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return 'unknown';
}
