import {
  concat,
  encodeFunctionData,
  getAddress,
  isErc6492Signature,
  parseAbi,
  recoverAddress,
  size,
  slice,
} from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { isWord, readCodeSize } from '#settlement/chain/code-size.ts';
import { quantity } from '#settlement/chain/decode.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { Hex } from '#settlement/requests.ts';

/** The result of a check; never thrown. `index` is the position of the digest that was signed. */
export type SignatureVerdict =
  | { readonly status: 'valid'; readonly index: number }
  | { readonly status: 'invalid' }
  /** The signer is a contract wallet that is not deployed yet, so it cannot be called. */
  | { readonly status: 'not_deployed' }
  | { readonly status: 'unavailable' };

const ERC1271 = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
/** A contract wallet's response to a valid signature: the function's four bytes, then zeros. */
const ERC1271_YES = `0x1626ba7e${'0'.repeat(56)}`;
/**
 * Init code, followed by the wallet's address and the call: makes the call by STATICCALL with
 * 500,000 gas, as much as the settlement contract grants it (`SIGNATURE_GAS`), and returns the
 * first word of the result, or zeros if the wallet reverted or returned less.
 */
const ASKING_PROGRAM = concat([
  '0x60146035600c395f51', // signer := the 20 bytes behind this program
  '0x60493803', // n := the length of the call behind it
  '0x8060495f39', // memory := the call
  '0x5f5f915f84', // answer to nowhere, n bytes from 0, to the signer
  '0x6207a120fa', // ok := staticcall(500000, …)
  '0x601f3d1116', // ok := ok and more than 31 bytes were returned
  '0x602b57', // if ok continue below
  '0x5f5f5260205ff3', // return zeros
  '0x5b60205f5f3e60205ff3', // return the first word
]);
/**
 * Gas for the wallet, for the share that EIP-150 holds back, for a contract creation, and for some
 * memory.
 */
const PROGRAM_GAS = 700_000n;
/** Gas per byte of call data: the higher price (EIP-7623), and the cost of init code. */
const BYTE_GAS = 50n;
/** Length of a key's signature: r, s and v. */
const KEY_SIGNATURE_BYTES = 65;
/**
 * Half of secp256k1's order. An s above it is the second form of the same signature, which is
 * rejected.
 */
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Rewrites v: wallets that write 0 or 1 mean 27 or 28, the only values that the token accepts. */
export function normalSignature(signature: Hex): Hex {
  if (size(signature) !== KEY_SIGNATURE_BYTES) return signature.toLowerCase() as Hex;
  const v = Number(slice(signature, 64));
  const tail = (v < 27 ? v + 27 : v).toString(16).padStart(2, '0');
  return `${slice(signature, 0, 64).toLowerCase()}${tail}` as Hex;
}

/**
 * True if `signer` signed one of the digests, decided as the token decides it: it calls an address
 * that has code (ERC-1271, with limited gas), and otherwise recovers the key.
 */
export async function verifySignature(
  chain: Chain,
  signed: { readonly signer: Hex; readonly digests: readonly Hex[]; readonly signature: Hex },
): Promise<SignatureVerdict> {
  try {
    const codeSize = await readCodeSize(chain.rpc, signed.signer, { urgent: true });
    if (codeSize > 0n) return await askWallet(chain, signed);
    const isOfKey = size(signed.signature) <= KEY_SIGNATURE_BYTES;
    if (!isOfKey || isErc6492Signature(signed.signature)) return { status: 'not_deployed' };
    return toVerdict(await Promise.all(signed.digests.map((digest) => isSignedBy(signed, digest))));
  } catch (error) {
    if (error instanceof RpcUnavailable) return { status: 'unavailable' };
    throw error;
  }
}

function toVerdict(valid: readonly boolean[]): SignatureVerdict {
  const index = valid.indexOf(true);
  return index === -1 ? { status: 'invalid' } : { status: 'valid', index };
}

/** True if the key of `signer` signed the digest. */
export async function isSignedBy(
  { signer, signature }: { readonly signer: Hex; readonly signature: Hex },
  hash: Hex,
): Promise<boolean> {
  if (size(signature) !== KEY_SIGNATURE_BYTES) return false;
  if (BigInt(slice(signature, 32, 64)) > HIGHEST_S) return false;
  try {
    return (await recoverAddress({ hash, signature })) === getAddress(signer);
  } catch {
    return false; // The numbers are not a valid signature.
  }
}

/**
 * Calls the wallet through a program that succeeds regardless of the wallet's response. If the call
 * itself could fail, a refusal would look like a faulty node.
 */
async function askWallet(
  chain: Chain,
  signed: { readonly signer: Hex; readonly digests: readonly Hex[]; readonly signature: Hex },
): Promise<SignatureVerdict> {
  const { signer, digests, signature } = signed;
  const calls = digests.map((digest) => {
    const args = [digest, signature] as const;
    const question = encodeFunctionData({ abi: ERC1271, functionName: 'isValidSignature', args });
    const data = concat([ASKING_PROGRAM, signer, question]);
    const gas = quantity(PROGRAM_GAS + BigInt(size(data)) * BYTE_GAS);
    return { method: 'eth_call', params: [{ data, gas }, 'latest'], accepts: isWord };
  });
  const answers = await chain.rpc.batch(calls, { urgent: true });
  return toVerdict(
    answers.map((answer) => {
      if (answer.ok) return answer.result === ERC1271_YES;
      throw new RpcUnavailable('a wallet could not be asked', { cause: answer.refusal });
    }),
  );
}
