import {
  type Hex as AnyHex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';
import { type LocalAccount, privateKeyToAccount, toAccount } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { describeError } from '#observability/log.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { settingAddress } from '#settlement/evm-address.ts';

/** A key behind a remote signer: `npm run signer`, or a program with the same protocol. */
export interface RemoteKey {
  /** The signer's URL without its last part, which is the account's address. */
  readonly url: string;
  readonly address: Hex;
  readonly token: string;
}

/** A private key, or the address of a signer that holds it. */
export type SigningKey = Hex | RemoteKey;

/** Signs EIP-1559 transactions for one address. */
export type Signer = Pick<LocalAccount, 'address' | 'signTransaction'>;

export interface SignRequest {
  readonly address: Hex;
  /** The whole transaction without a signature, serialized. */
  readonly unsigned: Hex;
}

/** Thrown when the signer gave no usable answer, so that it is unknown whether it has signed. */
export class SignerUnavailable extends Error {
  override readonly name = 'SignerUnavailable';
}

/** Thrown when the signer has refused, with its reason. */
export class SignerRefused extends Error {
  override readonly name = 'SignerRefused';
  /** Set for refusals that callers must distinguish; otherwise `null`. */
  readonly code: typeof OFFERS_TOO_LITTLE | typeof NO_TRANSACTION | null;
  /** The most gas that the signer signs for this key; `null` if it does not say. */
  readonly maxGas: bigint | null;

  constructor(reason: string, code: unknown, maxGas: unknown = null) {
    super(`the signer refused: ${reason}`);
    this.code = code === OFFERS_TOO_LITTLE || code === NO_TRANSACTION ? code : null;
    this.maxGas = /^\d{1,18}$/.test(String(maxGas)) ? BigInt(String(maxGas)) : null;
  }
}

/**
 * The signer has already signed other bytes for this nonce, and the requested ones do not outbid
 * them.
 */
export const OFFERS_TOO_LITTLE = 'offers_too_little';
export const NO_TRANSACTION = 'no_transaction';

/** Time-out of a request, in milliseconds: enough for a distant key service. */
const TIMEOUT_MS = 5_000;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Parses `https://host:port/0x…`: the URL ends with the account's address.
 * @throws StartError
 */
export function readRemoteKey(text: string, token: string | null, name: string): RemoteKey {
  const [, url, address] = /^(https?:\/\/.+)\/(0x[0-9a-fA-F]{40})$/.exec(text) ?? [];
  if (url === undefined || address === undefined || !URL.canParse(url)) {
    throw new StartError(`${name} must be https://<signer>/<address> for a key behind a signer`);
  }
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !LOOPBACK.has(hostname)) {
    throw new StartError(`${name} must be https, unless the signer runs on this machine`);
  }
  if (token === null || token === '') throw new StartError(`${name} needs the signer's token`);
  return { url, address: settingAddress(address, name), token };
}

/**
 * Checks that the signer answers, accepts the token, and knows the account. Signs nothing.
 * @returns the most gas that it signs for; `null` if it does not say.
 * @throws SignerUnavailable, SignerRefused
 */
export async function checkSigner(key: RemoteKey): Promise<bigint | null> {
  const { address } = key;
  try {
    await ask(key, { address, unsigned: '0x00' });
    return null;
  } catch (error) {
    if (!(error instanceof SignerRefused) || error.code !== NO_TRANSACTION) throw error;
    return error.maxGas;
  }
}

export function signerOf(key: SigningKey): LocalAccount {
  return typeof key === 'string' ? privateKeyToAccount(key) : remoteAccount(key);
}

function remoteAccount(key: RemoteKey): LocalAccount {
  const refuse = async (): Promise<never> => {
    throw new Error('a remote signer signs only transactions, not messages or typed data');
  };
  return toAccount({
    address: key.address,
    signMessage: refuse,
    signTypedData: refuse,
    signTransaction: async (transaction) => {
      const { type = 'eip1559', ...rest } = transaction as TransactionSerializableEIP1559;
      const unsigned = serializeTransaction({ ...rest, type });
      const signed = await ask(key, { address: key.address, unsigned });
      await requireSame(signed, { address: key.address, unsigned });
      return signed as never;
    },
  });
}

/** @throws SignerUnavailable, SignerRefused */
async function ask(key: RemoteKey, request: SignRequest): Promise<Hex> {
  const { isOk, status, answer } = await post(key, request).catch((cause) => {
    throw new SignerUnavailable(`the signer did not respond: ${describeError(cause)}`, { cause });
  });
  const { signed, error, code, max_gas: maxGas } = answer;
  if (isOk && typeof signed === 'string' && /^0x[0-9a-f]+$/i.test(signed)) return signed as Hex;
  if (typeof error !== 'string') throw new SignerUnavailable(`the signer answered ${status}`);
  throw new SignerRefused(error, code, maxGas);
}

async function post({ url, token }: RemoteKey, request: SignRequest) {
  const response = await plainFetch(`${url}/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  const { ok: isOk, status } = response;
  return { isOk, status, answer: (await response.json()) as Readonly<Record<string, unknown>> };
}

/** Checks that a signer has signed exactly the requested transaction. */
export async function requireSame(signed: Hex, request: SignRequest): Promise<void> {
  const parsed = parseTransaction(signed as `0x02${string}`);
  const { r, s, v, yParity, ...transaction } = parsed;
  const from = await recoverTransactionAddress({
    serializedTransaction: signed as `0x02${string}`,
  });
  const isSame = serializeTransaction(transaction as TransactionSerializableEIP1559);
  if (keccak256(isSame as AnyHex) !== keccak256(request.unsigned)) {
    throw new Error('the signer signed a different transaction');
  }
  if (from.toLowerCase() !== request.address.toLowerCase()) {
    throw new Error(`the signer signed for ${from}, not for ${request.address}`);
  }
}
