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
import type { Hex } from '#settlement/requests.ts';

/** A key that another program keeps: `npm run signer`, or one that speaks as it does. */
export interface RemoteKey {
  /** Without the address at its end. */
  readonly url: string;
  readonly address: Hex;
  readonly token: string;
}

/** A private key, or where it is. */
export type SigningKey = Hex | RemoteKey;

/** Signs EIP-1559 transactions for one address. */
export type Signer = Pick<LocalAccount, 'address' | 'signTransaction'>;

/** What the program is asked, and what it answers. */
export interface SignRequest {
  readonly address: Hex;
  /** The whole transaction without a signature, serialized. */
  readonly unsigned: Hex;
}

/** Long enough for a key service far away. */
const TIMEOUT_MS = 5_000;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** `https://host:port/0x…`: the address of the account stands at its end. @throws StartError */
export function readRemoteKey(text: string, token: string | null, name: string): RemoteKey {
  const [, url, address] = /^(https?:\/\/.+)\/(0x[0-9a-fA-F]{40})$/.exec(text) ?? [];
  if (url === undefined || address === undefined || !URL.canParse(url)) {
    throw new StartError(`${name} must be https://<signer>/<address> where a signer keeps the key`);
  }
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !LOOPBACK.has(hostname)) {
    throw new StartError(`${name} must be https, unless the signer runs on this machine`);
  }
  if (token === null || token === '') throw new StartError(`${name} needs the signer's token`);
  return { url, address: address as Hex, token };
}

/** The account of a key, wherever it is kept. */
export function signerOf(key: SigningKey): LocalAccount {
  return typeof key === 'string' ? privateKeyToAccount(key) : remoteAccount(key);
}

function remoteAccount(key: RemoteKey): LocalAccount {
  const refuse = async (): Promise<never> => {
    throw new Error('a signer signs transactions and nothing else');
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

/** @throws Error: no answer, or a refusal with the signer's reason. */
async function ask({ url, token }: RemoteKey, request: SignRequest): Promise<Hex> {
  const response = await fetch(`${url}/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  const answer = (await response.json()) as { signed?: unknown; error?: unknown };
  const { signed, error } = answer;
  if (response.ok && typeof signed === 'string' && /^0x[0-9a-f]+$/i.test(signed)) {
    return signed as Hex;
  }
  throw new Error(`the signer refused: ${typeof error === 'string' ? error : response.status}`);
}

/** A signer gets no say in what is sent. */
export async function requireSame(signed: Hex, request: SignRequest): Promise<void> {
  const parsed = parseTransaction(signed as `0x02${string}`);
  const { r, s, v, yParity, ...transaction } = parsed;
  const from = await recoverTransactionAddress({
    serializedTransaction: signed as `0x02${string}`,
  });
  const isSame = serializeTransaction(transaction as TransactionSerializableEIP1559);
  if (keccak256(isSame as AnyHex) !== keccak256(request.unsigned)) {
    throw new Error('the signer signed another transaction than it was asked to');
  }
  if (from.toLowerCase() !== request.address.toLowerCase()) {
    throw new Error(`the signer signed for ${from}, not for ${request.address}`);
  }
}
