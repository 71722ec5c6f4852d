import {
  encodeFunctionData,
  getAddress,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  recoverAddress,
  size,
  slice,
} from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { isWord, readCodeSize } from '#settlement/chain/read/code-size.ts';
import { callProgram, type ProgramCall } from '#settlement/chain/rpc/call-program.ts';
import { quantity } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { DEPLOYMENT_GAS, withCallData } from '#settlement/gas-ceilings.ts';
import { gasOfContract } from '#settlement/network-config.ts';

/** The result of a check; never thrown. */
export type SignatureVerdict =
  | {
      readonly status: 'valid';
      /** The index of the digest that was signed. */
      readonly index: number;
      /** The form of the signature that the chain accepts. */
      readonly signature: Hex;
      /** True if the wallet's code confirmed the signature, and not its key. */
      readonly byCode: boolean;
    }
  | { readonly status: 'invalid' }
  /**
   * The account's own key has signed, but the account has delegated to a contract (EIP-7702) that
   * rejects the signature, so the token would also reject it.
   */
  | { readonly status: 'delegate_refuses' }
  /** The signer is a contract wallet that is not deployed yet, so it cannot be called. */
  | {
      readonly status: 'not_deployed';
      readonly deployment: Deployment | null;
      /** True if the deployment would run code that is not known. */
      readonly isUnknown?: true;
    }
  | { readonly status: 'unavailable' };

/** The call by which a factory deploys a wallet, and the signature that the wallet then accepts. */
export interface Deployment {
  readonly factory: Hex;
  readonly data: Hex;
  readonly signature: Hex;
}

/**
 * The contract that decides whether a signature is valid, based on the code that the account has at
 * that moment.
 *
 * * `token`: for permits, transfers and payments. USDC asks an address that has code (ERC-1271),
 * even if it has only delegated (EIP-7702); for other addresses, the address's key must have
 * signed.
 * * `contract`: for policies and consents, and messages for this service alone. As in the
 * settlement contract, a signature by the address's key is valid; otherwise an address that has
 * code is asked. A key controls its delegation, so its signature is always valid here.
 */
export type DecidedBy = 'token' | 'contract';

interface Signed {
  readonly signer: Hex;
  readonly digests: readonly Hex[];
  readonly signature: Hex;
}

const ERC1271 = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
/** A contract wallet's response to a valid signature: the function's four bytes, then zeros. */
const ERC1271_YES: Hex = `0x1626ba7e${'0'.repeat(56)}`;
/**
 * Gas for the wallet's check, the share that EIP-150 withholds, a contract creation with the state
 * that it makes, and some memory.
 */
const PROGRAM_GAS = 1_000_000n;
/** The last precompile of the EVM: BLS12_MAP_FP2_TO_G2 (EIP-2537). */
const LAST_PRECOMPILE = 0x11n;
/** P256VERIFY (EIP-7951). */
const P256_PRECOMPILE = 0x100n;
/** Length of a key's signature: r, s and v. */
const KEY_SIGNATURE_BYTES = 65;
/**
 * Half of secp256k1's order. An s above it is the second form of the same signature, which is
 * rejected.
 */
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Normalizes v: some wallets write 0 or 1 for 27 and 28, the only values that the token accepts.
 */
export function normalSignature(signature: Hex): Hex {
  if (size(signature) !== KEY_SIGNATURE_BYTES) return signature.toLowerCase() as Hex;
  const v = Number(slice(signature, 64));
  const tail = (v < 27 ? v + 27 : v).toString(16).padStart(2, '0');
  return `${slice(signature, 0, 64).toLowerCase()}${tail}` as Hex;
}

/**
 * Checks whether `signer` signed one of the digests, as the chain would decide now. Never call this
 * function in a database transaction.
 * @param chain `null` if this process has no chain for the network: then only a key's signature can
 * be found valid, and only if `by` is `contract`; anything else is `unavailable`.
 */
export async function verifySignature(
  chain: Chain | null,
  signed: Signed & { readonly by: DecidedBy },
): Promise<SignatureVerdict> {
  if (isPrecompile(signed.signer)) return { status: 'invalid' };
  const ofKey = await verdictOfKey(signed);
  if (signed.by === 'contract' && ofKey.status === 'valid') return ofKey;
  if (chain === null) return { status: 'unavailable' };
  return orUnavailable(async () => {
    const codeSize = await readCodeSize(chain.rpc, signed.signer, { urgent: true });
    const deployment = deploymentOf(signed.signature);
    if (codeSize === 0n) {
      return isForWallet(signed) ? { status: 'not_deployed', deployment } : ofKey;
    }
    const inner = deployment?.signature ?? (signed.signature.toLowerCase() as Hex);
    const input = { ...signed, signature: inner };
    const verdict = await askWallet(chain, input);
    if (verdict.status !== 'invalid') return verdict;
    const ofOwnKey = await verdictOfKey(input);
    return ofOwnKey.status === 'valid' ? { status: 'delegate_refuses' } : verdict;
  });
}

/**
 * True for the addresses of precompiled contracts: 0x01 to 0x11, and 0x100. They have no key and
 * confirm no signature, whatever a node returns for them.
 */
function isPrecompile(signer: Hex): boolean {
  const number = BigInt(signer);
  return number <= LAST_PRECOMPILE || number === P256_PRECOMPILE;
}

/**
 * True if the signature does not have the form of a key's signature, so only a contract can check
 * it.
 */
function isForWallet({ signature }: Signed): boolean {
  return size(signature) > KEY_SIGNATURE_BYTES || isErc6492Signature(signature);
}

/**
 * Reads a wrapped signature (ERC-6492), which some wallets send even after they were deployed.
 * @returns `null` if it is not wrapped, or malformed.
 */
function deploymentOf(wrapped: Hex): Deployment | null {
  if (!isErc6492Signature(wrapped)) return null;
  try {
    const { address, data, signature } = parseErc6492Signature(wrapped);
    if (address === undefined || data === undefined) return null;
    return { factory: getAddress(address), data, signature };
  } catch {
    return null;
  }
}

async function verdictOfKey(signed: Signed): Promise<SignatureVerdict> {
  const signature = normalSignature(signed.signature);
  const ofKey = { signer: signed.signer, signature };
  const valid = await Promise.all(signed.digests.map((digest) => isSignedBy(ofKey, digest)));
  return toVerdict(valid, { signature, byCode: false });
}

function toVerdict(
  valid: readonly boolean[],
  signed: { readonly signature: Hex; readonly byCode: boolean },
): SignatureVerdict {
  const index = valid.indexOf(true);
  return index === -1 ? { status: 'invalid' } : { status: 'valid', index, ...signed };
}

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
 * Calls the wallet for each digest, after simulating its deployment if it is not deployed yet.
 * Nothing changes on the chain.
 * @throws RpcUnavailable
 */
async function askWallet(
  chain: Chain,
  { signer, digests, signature }: Signed,
  deployment: Deployment | null = null,
): Promise<SignatureVerdict> {
  const before = deployment === null ? [] : [deploymentCall(deployment)];
  const { signature: signatureGas } = gasOfContract(chain.config, chain.config.settlement);
  const calls = digests.map((digest) => {
    const args = [digest, signature] as const;
    const question = encodeFunctionData({ abi: ERC1271, functionName: 'isValidSignature', args });
    const call = { to: signer, data: question, gas: signatureGas };
    const data = callProgram([...before, call], { expected: ERC1271_YES });
    const gas = quantity(gasOfProgram(data) + (deployment === null ? 0n : 2n * DEPLOYMENT_GAS));
    return { method: 'eth_call', params: [{ data, gas }, 'latest'], accepts: isWord };
  });
  const answers = await chain.rpc.batch(calls, { urgent: true });
  const valid = answers.map((answer) => {
    if (answer.ok) return BigInt(answer.result as Hex) === 1n;
    throw new RpcUnavailable('a wallet could not be asked', { cause: answer.refusal });
  });
  return toVerdict(valid, { signature, byCode: true });
}

function gasOfProgram(program: Hex): bigint {
  return withCallData(PROGRAM_GAS, program);
}

function deploymentCall({ factory, data }: Deployment): ProgramCall {
  return { to: factory, data, gas: DEPLOYMENT_GAS };
}

/** Checks which signature a wallet will accept once its factory has deployed it. Never throws. */
export async function verifyUndeployed(
  chain: Chain,
  signed: Signed & { readonly deployment: Deployment },
): Promise<SignatureVerdict> {
  const { deployment } = signed;
  return orUnavailable(() =>
    askWallet(chain, { ...signed, signature: deployment.signature }, deployment),
  );
}

/**
 * Simulates the deployment and then another call, as one program. The program runs at the address
 * `from`, if only that account may make the call; otherwise at the address of a new contract.
 * @returns true if both calls succeed.
 * @throws RpcUnavailable
 */
export async function simulateDeployed(
  chain: Chain,
  deployment: Deployment,
  next: ProgramCall & { readonly from?: Hex },
): Promise<boolean> {
  const code = callProgram([deploymentCall(deployment), next]);
  const gas = quantity(gasOfProgram(code) + 2n * DEPLOYMENT_GAS + next.gas);
  const { from: to } = next;
  const params =
    to === undefined
      ? [{ data: code, gas }, 'latest']
      : [{ to, gas }, 'latest', { [to]: { code } }];
  const calls = [{ method: 'eth_call', params, accepts: isWord }];
  const [answer] = await chain.rpc.batch(calls, { urgent: true });
  if (answer?.ok === true) return BigInt(answer.result as Hex) === 1n;
  throw new RpcUnavailable('a deployment could not be simulated', { cause: answer?.refusal });
}

async function orUnavailable(work: () => Promise<SignatureVerdict>): Promise<SignatureVerdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RpcUnavailable) return { status: 'unavailable' };
    throw error;
  }
}
