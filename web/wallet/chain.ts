import { textLocale } from '../ui/text/t.ts';
import type { Hex } from './bytes.ts';
import type { ChainFacts } from './signing.ts';

/**
 * The chain itself, asked through the node of an injected wallet (EIP-1193) or a public node: what
 * this network may take, whatever its server says, and the transaction that ends it.
 */

export interface Provider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
}

/** The browser wallet of this window, where there is one. */
export function injectedProvider(): Provider | null {
  const { ethereum } = window as { readonly ethereum?: Provider };
  return typeof ethereum?.request === 'function' ? ethereum : null;
}

/** Somebody who can be asked about the chain. */
export interface ChainNode extends Provider {
  readonly kind: 'browser_wallet' | 'public_node';
}

/** A node has understood the call and does not do it. Silence is none. */
export class RefusedByNode extends Error {}

function publicNode(url: string): ChainNode {
  return {
    kind: 'public_node',
    request: async ({ method, params = [] }) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        referrerPolicy: 'no-referrer',
      });
      const told = (await response.json()) as { readonly result?: unknown; error?: unknown };
      if (told.error !== undefined) throw new RefusedByNode(`${method}: refused`);
      if (told.result === undefined) throw new Error(`${method}: no answer`);
      return told.result;
    },
  };
}

/** The owner's own node before one that the operator names; null: there is neither. */
export function chainNode(chain: ChainFacts | undefined): ChainNode | null {
  const injected = injectedProvider();
  if (injected !== null) {
    return { kind: 'browser_wallet', request: (asked) => injected.request(asked) };
  }
  // What was kept by an earlier version of the wallet names no node.
  const url = chain?.rpcUrl ?? null;
  return url === null ? null : publicNode(url);
}

/** The first four bytes of the hashes of what the calls are named (chain.test.ts). */
export const SELECTORS = {
  balanceOf: '0x70a08231',
  allowance: '0xdd62ed3e',
  approve: '0x095ea7b3',
  transfer: '0xa9059cbb',
} as const;

/** `approve(settlement, 0)`: with real USDC, behind its proxy, about 40,000. */
export const GAS_LIMIT = 80_000n;

function word(value: Hex | bigint): string {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.slice(2);
  return digits.toLowerCase().padStart(64, '0');
}

function callData(selector: Hex, ...words: readonly (Hex | bigint)[]): Hex {
  return `${selector}${words.map(word).join('')}`;
}

/** So much may be taken in all. */
export function allow({ settlement }: ChainFacts, atoms: bigint): Hex {
  return callData(SELECTORS.approve, settlement, atoms);
}

/** Nothing may be taken any more. */
export function endPermission(chain: ChainFacts): Hex {
  return allow(chain, 0n);
}

/** With real USDC about 65,000 to somebody who holds none yet. */
export const TRANSFER_GAS_LIMIT = 120_000n;

/** `transfer(to, amount)` of the token. */
export function sendUsdc(to: Hex, atoms: bigint): Hex {
  return callData(SELECTORS.transfer, to, atoms);
}

/** What the chain says, and what a transaction of this wallet needs. */
export interface ChainTruth {
  /** Atoms. */
  readonly balance: bigint;
  readonly allowance: bigint;
  /** Wei. */
  readonly coin: bigint;
  readonly nonce: number;
  /** Wei per gas, with room for a busy block. */
  readonly maxFeePerGas: bigint;
}

/** The injected wallet looks at another chain. */
export class OtherChain extends Error {
  constructor() {
    super('The browser wallet is connected to another chain.');
    this.name = 'OtherChain';
  }
}

async function quantity(provider: Provider, method: string, ...params: unknown[]): Promise<bigint> {
  const answer = await provider.request({ method, params });
  if (typeof answer !== 'string' || !/^0x[0-9a-f]+$/i.test(answer)) {
    throw new Error(`${method}: no number`);
  }
  return BigInt(answer);
}

/** @throws OtherChain, or what the injected wallet throws. */
export async function readChain(
  provider: Provider,
  chain: ChainFacts,
  address: Hex,
): Promise<ChainTruth> {
  if ((await quantity(provider, 'eth_chainId')) !== BigInt(chain.chainId)) throw new OtherChain();
  const view = (data: Hex) => quantity(provider, 'eth_call', { to: chain.usdc, data }, 'latest');
  const [balance, allowance, coin, nonce, gasPrice] = await Promise.all([
    view(callData(SELECTORS.balanceOf, address)),
    view(callData(SELECTORS.allowance, address, chain.settlement)),
    quantity(provider, 'eth_getBalance', address, 'latest'),
    quantity(provider, 'eth_getTransactionCount', address, 'pending'),
    quantity(provider, 'eth_gasPrice'),
  ]);
  return { balance, allowance, coin, nonce: Number(nonce), maxFeePerGas: gasPrice * 2n };
}

/** EIP-1193: the browser wallet has no connection of its own. */
const DISCONNECTED = [4900, 4901];

/** Whether a node, or the one behind a browser wallet, said no; else it may have heard it. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof RefusedByNode) return true;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'number' && !DISCONNECTED.includes(code);
}

/** @returns the transaction's hash. */
export async function sendRaw(provider: Provider, raw: Hex): Promise<string> {
  return String(await provider.request({ method: 'eth_sendRawTransaction', params: [raw] }));
}

/** What became of a transaction; null: it is in no block. */
export async function readReceipt(
  provider: Provider,
  hash: Hex,
): Promise<'succeeded' | 'reverted' | null> {
  const params = [hash];
  const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params });
  const { status } = (receipt ?? {}) as { readonly status?: unknown };
  if (typeof status !== 'string') return null;
  return BigInt(status) === 1n ? 'succeeded' : 'reverted';
}

/** How many transactions of this wallet the node knows, those in no block included where asked. */
export function countSent(
  provider: Provider,
  address: Hex,
  block: 'latest' | 'pending',
): Promise<bigint> {
  return quantity(provider, 'eth_getTransactionCount', address, block);
}

const GWEI = 10n ** 9n;
const COIN = 10n ** 18n;

/** `1.5`, of gwei. @returns wei; null: no such number. */
export function parseGwei(text: string): bigint | null {
  const [, whole = '', decimals = ''] = /^(\d{1,6})(?:[.,](\d{1,9}))?$/.exec(text.trim()) ?? [];
  if (whole === '') return null;
  return BigInt(whole) * GWEI + BigInt(decimals.padEnd(9, '0'));
}

/** `0.00016`. */
export function formatCoin(wei: bigint): string {
  const decimals = (wei % COIN).toString().padStart(18, '0').replace(/0+$/, '');
  return decimals === '' ? `${wei / COIN}` : `${wei / COIN}.${decimals}`;
}

/** `0.00016`, every digit of it, in the reader's digits. */
export function readableCoin(wei: bigint): string {
  const digits = new Intl.NumberFormat(textLocale(), { maximumFractionDigits: 18 });
  return digits.format(formatCoin(wei) as Intl.StringNumericLiteral);
}

/** `2`. */
export function formatGwei(wei: bigint): string {
  return formatCoin(wei * GWEI);
}
