import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  hashTypedData,
  hexToBigInt,
  isErc6492Signature,
  parseAbi,
  parseErc6492Signature,
  parseSignature,
  recoverAddress,
  size,
  slice,
} from 'viem';

/** A signed EIP-3009 `TransferWithAuthorization`. */
export interface Authorization {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
  /** The inner signature that the token accepts, without the ERC-6492 wrapper. */
  readonly signature: Hex;
  /** Set if the signature came with the call that deploys its wallet (ERC-6492). */
  readonly deployment?: Deployment;
}

/** The call that deploys a contract wallet. */
export interface Deployment {
  readonly factory: Address;
  readonly data: Hex;
}

const MESSAGE =
  'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce';
const TRANSFER = `function transferWithAuthorization(${MESSAGE}` as const;
const ABI = parseAbi([
  `${TRANSFER}, uint8 v, bytes32 r, bytes32 s)`,
  `${TRANSFER}, bytes signature)`,
]);

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Length of a key's signature: r, s and v. */
export const KEY_SIGNATURE_BYTES = 65;
const S_AT = 32;
const WORD_BYTES = 32;
/** Half the order of secp256k1: each signature has a second form, with an `s` above it. */
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** Offset of the recovery id in Ethereum signatures. */
const FIRST_V = 27;

export interface TokenFacts {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly usdc: Address;
  /** The token's EIP-712 domain, which may change while the facilitator runs. */
  readonly domain: { name: string; version: string };
}

type Message = Omit<Authorization, 'signature' | 'deployment'>;

/** Returns the digest that is signed, with the token's current name. */
export function digestOf(facts: TokenFacts, message: Message): Hex {
  const { chainId, usdc: verifyingContract, domain } = facts;
  return hashTypedData({
    domain: { ...domain, chainId, verifyingContract },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  });
}

/** True if the account's own key has signed. Like USDC, it rejects a high `s`. */
export async function isSignedByKey(
  facts: TokenFacts,
  authorization: Authorization,
): Promise<boolean> {
  const { from, signature } = authorization;
  if (size(signature) !== KEY_SIGNATURE_BYTES) return false;
  if (hexToBigInt(slice(signature, S_AT, S_AT + WORD_BYTES)) > HIGHEST_S) return false;
  const hash = digestOf(facts, authorization);
  const signer = await recoverAddress({ hash, signature }).catch(() => null);
  return signer === from;
}

/**
 * Encodes the call that executes the transfer. A contract wallet's signature is passed unchanged,
 * because one of 65 bytes need not consist of r, s and v.
 */
export async function transferCall(facts: TokenFacts, authorization: Authorization): Promise<Hex> {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization;
  const args = [from, to, value, validAfter, validBefore, nonce] as const;
  const call = { abi: ABI, functionName: 'transferWithAuthorization' } as const;
  if (!(await isSignedByKey(facts, authorization))) {
    return encodeFunctionData({ ...call, args: [...args, signature] });
  }
  const { r, s, yParity } = parseSignature(signature);
  return encodeFunctionData({ ...call, args: [...args, FIRST_V + yParity, r, s] });
}

/** Unwraps a signature (ERC-6492). Some wallets wrap even after they were deployed. */
export function unwrap(wrapped: Hex): Pick<Authorization, 'signature' | 'deployment'> {
  if (!isErc6492Signature(wrapped)) return { signature: wrapped };
  try {
    const { address, data, signature } = parseErc6492Signature(wrapped);
    if (address === undefined || data === undefined) return { signature: wrapped };
    return { signature, deployment: { factory: getAddress(address), data } };
  } catch {
    return { signature: wrapped };
  }
}
