import { hashTypedData, type TypedDataDefinition, zeroAddress } from 'viem';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type CheckedSignature,
  checkSignature,
} from '#settlement/chain/check/signature-refusals.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import { checksummed } from '#settlement/evm-address.ts';

/**
 * Validity of a signed consent, in seconds: short, so that the signature shows that the wallet is
 * still available.
 */
export const CONSENT_SECONDS = 3600;

/**
 * Parses a wallet's address: checksummed, or all in one case; never the zero address or one of our
 * contracts.
 */
export function readWallet(text: string, chain: Chain): Hex | Refusal {
  const invalid = (why: string) => refuse('parameter_invalid', `wallet ${why}.`, 'wallet');
  const wallet = checksummed(text);
  if (wallet === null) return invalid('is not a (correctly checksummed) EVM address');
  const contracts = contractsOf(chain.config).map(({ settlement }) => settlement);
  const ours = [zeroAddress, ...contracts, chain.config.usdc].map((one) => one.toLowerCase());
  if (ours.includes(wallet.toLowerCase())) return invalid('must be an address of your own');
  return wallet;
}

/**
 * Checks, by the contract's own rules, that the wallet has signed exactly this message. The wallet
 * is an ordinary key or a contract (ERC-1271), which may be undeployed.
 */
export function checkConsent(
  chain: Chain,
  consent: {
    readonly wallet: Hex;
    readonly typedData: TypedDataDefinition;
    readonly signature: Hex;
  },
): Promise<CheckedSignature | Refusal> {
  const { wallet, typedData, signature } = consent;
  const signed = { signer: wallet, digest: hashTypedData(typedData), signature };
  return checkSignature(
    chain,
    { ...signed, by: 'contract', simulates: true },
    {
      code: 'parameter_invalid',
      message: 'signature was not made by this wallet for the consent with this deadline.',
      param: 'signature',
    },
  );
}

/**
 * Checks that the deadline leaves the relayer enough time, but is near enough for a recent
 * signature.
 */
export function checkDeadline(deadline: number, now: Date): Refusal | null {
  const seconds = Math.floor(now.getTime() / 1000);
  if (deadline > seconds + 60 && deadline <= seconds + CONSENT_SECONDS) return null;
  return refuse(
    'parameter_invalid',
    `deadline must be 61 to ${CONSENT_SECONDS} seconds ahead, in Unix seconds.`,
    'deadline',
  );
}

export interface Consent {
  readonly wallet: string;
  /** Unix seconds. */
  readonly deadline: number;
  readonly signature: Hex;
}
