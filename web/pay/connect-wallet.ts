import type { Hex } from '../data/bytes.ts';
import type { Provider } from '../data/injected-wallets.ts';
import type { Message } from './build-payment-message.ts';

/** Thrown if the user declined in the wallet's own window. */
export class Refused extends Error {
  constructor(options?: ErrorOptions) {
    super('The wallet refused', options);
    this.name = 'Refused';
  }
}

/** EIP-1193 code: the user rejected the request. */
const USER_REJECTED = 4001;
/** EIP-3326 code: the wallet does not know the chain. */
const CHAIN_UNKNOWN = 4902;

function providerCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}

async function ask(provider: Provider, method: string, params: readonly unknown[] = []) {
  try {
    return await provider.request({ method, params });
  } catch (cause) {
    if (providerCode(cause) === USER_REJECTED) throw new Refused({ cause });
    throw cause;
  }
}

function firstOf(accounts: unknown): Hex | null {
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  return typeof first === 'string' ? (first as Hex) : null;
}

/** A problem with the wallet that the page detects before the wallet signs. */
export type Trouble =
  | { readonly is: 'wrong_network'; readonly chainId: number; readonly known: boolean }
  | { readonly is: 'too_little'; readonly balance: bigint };

/** The wallet must meet these requirements of the payment. */
export interface Needs {
  readonly chainId: number;
  readonly usdc: string;
  /** In atoms. */
  readonly price: bigint;
}

export interface Connected {
  readonly address: Hex;
  readonly trouble: Trouble | null;
}

async function chainOf(provider: Provider): Promise<number> {
  return Number(await ask(provider, 'eth_chainId'));
}

/** @returns false if the wallet does not know the chain. */
async function switchTo(provider: Provider, chainId: number): Promise<boolean> {
  try {
    const params = [{ chainId: `0x${chainId.toString(16)}` }];
    await ask(provider, 'wallet_switchEthereumChain', params);
    return true;
  } catch (error) {
    if (error instanceof Refused) throw error;
    return providerCode(error) !== CHAIN_UNKNOWN;
  }
}

const BALANCE_OF = '0x70a08231';

async function balanceOf(provider: Provider, usdc: string, address: Hex): Promise<bigint> {
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const answer = await ask(provider, 'eth_call', [{ to: usdc, data }, 'latest']);
  return BigInt(String(answer));
}

async function inspect(
  provider: Provider,
  address: Hex,
  { chainId: expectedChain, usdc, price }: Needs,
): Promise<Connected> {
  const chainId = await chainOf(provider);
  if (chainId !== expectedChain) {
    return { address, trouble: { is: 'wrong_network', chainId, known: true } };
  }
  const balance = await balanceOf(provider, usdc, address);
  return { address, trouble: balance < price ? { is: 'too_little', balance } : null };
}

/**
 * Checks a wallet that has already given this page access.
 * @returns `null` if the page must ask for access first.
 */
export async function lookAt(provider: Provider, needs: Needs): Promise<Connected | null> {
  const address = firstOf(await ask(provider, 'eth_accounts'));
  return address === null ? null : inspect(provider, address, needs);
}

/**
 * Asks the wallet for access and to switch to the payment's chain.
 *
 * @throws Refused
 */
export async function connect(provider: Provider, needs: Needs): Promise<Connected> {
  const address = firstOf(await ask(provider, 'eth_requestAccounts'));
  if (address === null) throw new Refused();
  if ((await chainOf(provider)) !== needs.chainId) {
    const known = await switchTo(provider, needs.chainId);
    const chainId = await chainOf(provider);
    if (chainId !== needs.chainId) {
      return { address, trouble: { is: 'wrong_network', chainId, known } };
    }
  }
  return inspect(provider, address, needs);
}

/** Asks the wallet to sign. @throws Refused */
export async function signWith(provider: Provider, from: Hex, message: Message): Promise<Hex> {
  const params = [from, JSON.stringify(message)];
  return (await ask(provider, 'eth_signTypedData_v4', params)) as Hex;
}
