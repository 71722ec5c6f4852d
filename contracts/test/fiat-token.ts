// Circle's USDC as it runs on public chains: FiatTokenV2_2 behind its proxy, with its signature
// library. Its creation code is stored beside the repository and is not part of it: without that
// file, these tests and measurements are skipped.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Abi,
  type AbiFunction,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
} from 'viem';

const file = fileURLToPath(new URL('../../../shared/data/fiat-token.json', import.meta.url));

/** The reason to skip a test that needs the token; undefined if the file exists. */
export const FIAT_TOKEN_MISSING = existsSync(file)
  ? undefined
  : 'needs ../shared/data/fiat-token.json, the code of the real USDC';

interface Compiled {
  readonly abi: Abi;
  readonly bytecode: Hex;
  readonly linkReferences: Record<string, Record<string, readonly { start: number }[]>>;
}

type Part = 'FiatTokenProxy' | 'FiatTokenV2_2' | 'SignatureChecker' | 'MockERC1271Wallet';

/** Sends the transactions that deploy the token. */
export interface FiatTokenChain {
  /**
   * Deploys a contract. The sending address cannot use the token, because the proxy makes its
   * deployer the admin.
   */
  deploy(data: Hex): Promise<Hex>;
  /** Sent by `roles.owner`. */
  call(to: Hex, data: Hex): Promise<unknown>;
}

/** The addresses that hold the token's roles. The owner also appoints minters. */
export interface FiatTokenRoles {
  readonly owner: Hex;
  readonly minter: Hex;
  readonly pauser: Hex;
  readonly blacklister: Hex;
}

const MAX_MINT = 2n ** 128n;
/** The length of an address in bytes. */
const ADDRESS_LENGTH = 20;
const UNUSED_SELECTOR = 'ffffffff';

/** Returns ABI and creation code of one of Circle's contracts. */
export function fiatTokenPart(part: Part): Compiled {
  const parts = JSON.parse(readFileSync(file, 'utf8')) as Record<Part, Compiled>;
  return parts[part];
}

/**
 * Deploys and initializes the token like USDC, or with another logic contract.
 * @returns the address of its proxy.
 */
export async function deployFiatToken(
  chain: FiatTokenChain,
  roles: FiatTokenRoles,
  logicCode: (bytecode: Hex) => Hex = (bytecode) => bytecode,
): Promise<Hex> {
  const library = await chain.deploy(fiatTokenPart('SignatureChecker').bytecode);
  const logic = fiatTokenPart('FiatTokenV2_2');
  const implementation = await chain.deploy(logicCode(link(logic, library)));
  const proxy = fiatTokenPart('FiatTokenProxy');
  const args = [implementation];
  const token = await chain.deploy(
    encodeDeployData({ abi: proxy.abi, bytecode: proxy.bytecode, args }),
  );
  const call = (functionName: string, ...values: unknown[]) =>
    chain.call(token, encodeFunctionData({ abi: logic.abi, functionName, args: values }));
  const { owner, minter, pauser, blacklister } = roles;
  await call('initialize', 'USD Coin', 'USDC', 'USD', 6, owner, pauser, blacklister, owner);
  await call('initializeV2', 'USD Coin');
  await call('initializeV2_1', owner);
  await call('initializeV2_2', [], 'USDC');
  await call('configureMinter', minter, MAX_MINT);
  return token;
}

/** Returns the creation code with the address of its library filled in wherever it is needed. */
function link({ bytecode, linkReferences }: Compiled, library: Hex): Hex {
  let code = bytecode.slice(2);
  for (const places of Object.values(linkReferences).flatMap((file) => Object.values(file))) {
    for (const { start } of places.flat()) {
      code = code.slice(0, start * 2) + library.slice(2) + code.slice((start + ADDRESS_LENGTH) * 2);
    }
  }
  return `0x${code}`;
}

/**
 * Returns V2_2 without the calls that take a signature as bytes, so that it behaves like V2_1 for a
 * caller. In the function table, their selectors are replaced by one that is never called.
 */
export function withoutBytesSignatures(logic: Hex): Hex {
  const taken = fiatTokenPart('FiatTokenV2_2').abi.filter(
    (one) => one.type === 'function' && one.inputs.at(-1)?.type === 'bytes',
  );
  return taken.reduce<Hex>((code, one) => {
    const push = `63${toFunctionSelector(one as AbiFunction).slice(2)}14`;
    if (code.split(push).length !== 2) throw new Error(`the function table has no ${push}`);
    return code.replace(push, `63${UNUSED_SELECTOR}14`) as Hex;
  }, logic);
}

/**
 * The slot in which `FiatTokenV1` stores its name: after owner, pauser, blacklister and blocklist.
 */
export const FIAT_TOKEN_NAME_SLOT = '0x4';
/** The longest text that fits into one word together with its length. */
const SHORT_TEXT_LENGTH = 31;

/** Returns a short text as Solidity stores it: its bytes, and twice its length in the last byte. */
export function storedText(text: string): Hex {
  const bytes = Buffer.from(text);
  if (bytes.length > SHORT_TEXT_LENGTH) throw new Error(`${text} does not fit into a word`);
  const word = Buffer.alloc(SHORT_TEXT_LENGTH + 1);
  bytes.copy(word);
  word[SHORT_TEXT_LENGTH] = bytes.length * 2;
  return `0x${word.toString('hex')}`;
}
