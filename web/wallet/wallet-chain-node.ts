import type { Hex } from '../data/bytes.ts';
import { textLocale } from '../ui/text/t.ts';
import { plainText } from '../ui/typed-sum.ts';
import type { ChainFacts } from './sign-permit-and-transfer.ts';

/**
 * This module reads, independently of the service, how much the contract may charge: through an
 * injected wallet (EIP-1193) or a public node. It also builds the transaction that ends this
 * permission.
 */

export interface Provider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
}

/** Returns the injected wallet of this window, if there is one. */
export function injectedProvider(): Provider | null {
  const { ethereum } = window as { readonly ethereum?: Provider };
  return typeof ethereum?.request === 'function' ? ethereum : null;
}

export interface ChainNode extends Provider {
  readonly kind: 'browser_wallet' | 'public_node';
}

/** Thrown if a node understood the call and refused it. A missing response does not throw this. */
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

/**
 * Returns the injected wallet's node, or else the operator's public one; `null` if there is
 * neither.
 */
export function chainNode(chain: ChainFacts | undefined): ChainNode | null {
  const injected = injectedProvider();
  if (injected !== null) {
    return { kind: 'browser_wallet', request: (request) => injected.request(request) };
  }
  // Entries stored by an earlier version name no node.
  const url = chain?.rpcUrl ?? null;
  return url === null ? null : publicNode(url);
}

/**
 * Function selectors: the first four bytes of the hash of each function's signature
 * (wallet-chain-node.test.ts).
 */
export const SELECTORS = {
  balanceOf: '0x70a08231',
  allowance: '0xdd62ed3e',
  approve: '0x095ea7b3',
  transfer: '0xa9059cbb',
} as const;

/**
 * Gas limit of an approval: `approve(settlement, 0)` uses about 40,000 with real USDC behind its
 * proxy.
 */
export const GAS_LIMIT = 80_000n;

function word(value: Hex | bigint): string {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.slice(2);
  return digits.toLowerCase().padStart(64, '0');
}

function callData(selector: Hex, ...words: readonly (Hex | bigint)[]): Hex {
  return `${selector}${words.map(word).join('')}`;
}

/** Returns the calldata that sets the allowance to this total. */
export function allow({ settlement }: ChainFacts, atoms: bigint): Hex {
  return callData(SELECTORS.approve, settlement, atoms);
}

/** Returns the calldata that sets the allowance to zero. */
export function endPermission(chain: ChainFacts): Hex {
  return allow(chain, 0n);
}

/**
 * Gas limit of a transfer: about 65,000 are used with real USDC, for a recipient without a balance.
 */
export const TRANSFER_GAS_LIMIT = 120_000n;

/** Returns the calldata of the token's `transfer(to, amount)`. */
export function sendUsdc(to: Hex, atoms: bigint): Hex {
  return callData(SELECTORS.transfer, to, atoms);
}

/** The state on chain, and the values that a transaction of this wallet needs. */
export interface ChainTruth {
  /** Atoms. */
  readonly balance: bigint;
  readonly allowance: bigint;
  /** Native balance in wei. */
  readonly coin: bigint;
  readonly nonce: number;
  /** In wei per gas, with room for a busy block. */
  readonly maxFeePerGas: bigint;
}

/** Thrown if the injected wallet is connected to another chain. */
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

/** @throws OtherChain, or whatever the injected wallet throws. */
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

/** EIP-1193 codes for a wallet that is itself disconnected. */
const DISCONNECTED = [4900, 4901];

/** True if the node refused the call. Otherwise the node may have received the transaction. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof RefusedByNode) return true;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'number' && !DISCONNECTED.includes(code);
}

/** Sends a signed transaction. @returns its hash. */
export async function sendRaw(provider: Provider, raw: Hex): Promise<string> {
  return String(await provider.request({ method: 'eth_sendRawTransaction', params: [raw] }));
}

/** Returns the result of a transaction, or `null` if it is not in a block. */
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

/** Returns the wallet's transaction count on this node, with or without pending transactions. */
export function countSent(
  provider: Provider,
  address: Hex,
  block: 'latest' | 'pending',
): Promise<bigint> {
  return quantity(provider, 'eth_getTransactionCount', address, block);
}

const GWEI = 10n ** 9n;
const COIN = 10n ** 18n;
const GWEI_TEXT = /^(\d{1,6})(?:[.,٫](\d{1,9}))?$/;

/** Parses gwei, for example `1.5`. @returns wei, or `null` if it is not a number. */
export function parseGwei(text: string): bigint | null {
  const [, whole = '', decimals = ''] = GWEI_TEXT.exec(plainText(text)) ?? [];
  if (whole === '') return null;
  return BigInt(whole) * GWEI + BigInt(decimals.padEnd(9, '0'));
}

/** Formats wei as whole coins with all decimals, for example `0.00016`. */
export function formatCoin(wei: bigint): string {
  const decimals = (wei % COIN).toString().padStart(18, '0').replace(/0+$/, '');
  return decimals === '' ? `${wei / COIN}` : `${wei / COIN}.${decimals}`;
}

/** Formats wei as whole coins with all decimals, in the user's locale, for example `0,00016`. */
export function readableCoin(wei: bigint): string {
  const digits = new Intl.NumberFormat(textLocale(), { maximumFractionDigits: 18 });
  return digits.format(formatCoin(wei) as Intl.StringNumericLiteral);
}

/** Formats wei as gwei, for example `2`. */
export function formatGwei(wei: bigint): string {
  return formatCoin(wei * GWEI);
}
