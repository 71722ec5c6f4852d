import {
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  hashTypedData,
  isAddress,
  type TypedDataDefinition,
  verifyTypedData,
  zeroAddress,
} from 'viem';
import { type Refusal, refuse } from '#core/refusal.ts';
import type { Chain } from '#settlement/chain.ts';
import type { Hex } from '#settlement/requests.ts';

/** A signed consent is good this long: a wallet at hand, not a signature in store. */
export const CONSENT_SECONDS = 3600;

/** Checksummed, or all in one case; never the zero address or a contract of ours. */
export function readWallet(text: string, chain: Chain): Hex | Refusal {
  const invalid = (why: string) => refuse('parameter_invalid', `wallet ${why}.`, 'wallet');
  const oneCase = /^0x(?:[0-9a-f]{40}|[0-9A-F]{40})$/.test(text);
  if (!oneCase && !isAddress(text)) return invalid('is not a (correctly checksummed) EVM address');
  const wallet = getAddress(text.toLowerCase());
  const ours = [zeroAddress, chain.config.settlement, chain.config.usdc].map((one) =>
    one.toLowerCase(),
  );
  if (ours.includes(wallet.toLowerCase())) return invalid('must be an address of your own');
  return wallet;
}

const ERC1271 = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ name: 'magic', type: 'bytes4' }],
  },
] as const;
const ERC1271_VALID = '0x1626ba7e';

/** A wallet that is a contract says itself whether it has signed. @throws RpcUnavailable */
async function contractAgrees(
  chain: Chain,
  of: { readonly wallet: Hex; readonly typedData: TypedDataDefinition; readonly signature: Hex },
): Promise<boolean> {
  const args = [hashTypedData(of.typedData), of.signature] as const;
  const data = encodeFunctionData({ abi: ERC1271, functionName: 'isValidSignature', args });
  const [answer] = await chain.calls([{ to: of.wallet, data }]);
  if (answer?.ok !== true || answer.data.length < 66) return false;
  const magic = decodeFunctionResult({
    abi: ERC1271,
    functionName: 'isValidSignature',
    data: answer.data,
  });
  return magic === ERC1271_VALID;
}

/**
 * Whether the wallet has signed exactly this, as the contract will ask: an ordinary key, or a
 * contract wallet (ERC-1271). @throws RpcUnavailable
 */
export async function checkConsent(
  chain: Chain,
  of: { readonly wallet: Hex; readonly typedData: TypedDataDefinition; readonly signature: Hex },
): Promise<Refusal | null> {
  const { wallet, typedData, signature } = of;
  const isOwn = await verifyTypedData({ ...typedData, address: wallet, signature }).catch(
    () => false, // A signature of a wrong length or with impossible numbers.
  );
  if (isOwn || (await contractAgrees(chain, of))) return null;
  return refuse(
    'parameter_invalid',
    'signature is not that of this wallet over the consent with this deadline.',
    'signature',
  );
}

/** A deadline that leaves the relayer time, and that is not a signature in store. */
export function checkDeadline(deadline: number, now: Date): Refusal | null {
  const seconds = Math.floor(now.getTime() / 1000);
  if (deadline > seconds + 60 && deadline <= seconds + CONSENT_SECONDS) return null;
  return refuse(
    'parameter_invalid',
    `deadline must be 61 to ${CONSENT_SECONDS} seconds ahead, in Unix seconds.`,
    'deadline',
  );
}
