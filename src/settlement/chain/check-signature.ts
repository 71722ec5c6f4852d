import { type Refusal, refuse } from '#core/answer.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type DecidedBy,
  type Deployment,
  type SignatureVerdict,
  verifySignature,
  verifyUndeployed,
} from '#settlement/chain/verify-signature.ts';
import type { Hex } from '#settlement/requests.ts';
import { isListedFactory } from '#settlement/wallet-factories.ts';

/** The refusal of a signature that is not the wallet's. */
interface WrongSignature {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
}

/** Returns the chain of a mode; `null` if this process has none. */
export function chainOrNull(chains: readonly Chain[], livemode: boolean): Chain | null {
  return chains.find(({ config }) => config.livemode === livemode) ?? null;
}

/**
 * Checks a wallet's signature before anything is written or spent. If the chain does not answer,
 * the signature is neither valid nor invalid: 503.
 * @returns the signature in the form that the chain accepts.
 */
export async function checkSignature(
  chain: Chain | null,
  signed: {
    readonly signer: Hex;
    readonly digest: Hex;
    readonly signature: Hex;
    readonly by: DecidedBy;
    /**
     * True if no contract will ever check the signature: a wallet that is not deployed yet is then
     * called in a simulation, if the operator lists its factory.
     */
    readonly offChain?: true;
  },
  wrong: WrongSignature,
): Promise<{ readonly signature: Hex } | Refusal> {
  const { digest, offChain, ...rest } = signed;
  const asked = { ...rest, digests: [digest] };
  const verdict =
    offChain === true && chain !== null
      ? (await verifyDeployable(chain, asked)).verdict
      : await verifySignature(chain, asked);
  if (verdict.status === 'valid') return { signature: verdict.signature };
  return refusalOf(verdict, wrong);
}

/**
 * Like {@link verifySignature}, but a wallet that is not deployed yet is called in a simulation of
 * its deployment, if the operator lists its factory.
 * @returns the deployment that must come first, if the signature is valid; otherwise `null`.
 */
export async function verifyDeployable(
  chain: Chain,
  asked: Parameters<typeof verifySignature>[1],
): Promise<{ readonly verdict: SignatureVerdict; readonly deployment: Deployment | null }> {
  const first = await verifySignature(chain, asked);
  const deployment = first.status === 'not_deployed' ? first.deployment : null;
  if (deployment === null || !isListedFactory(chain.config, deployment.factory)) {
    return { verdict: first, deployment: null };
  }
  const verdict = await verifyUndeployed(chain, { ...asked, deployment });
  return { verdict, deployment: verdict.status === 'valid' ? deployment : null };
}

/** Returns the refusal for a signature that could not be verified, with what the caller can do. */
export function refusalOf(
  verdict: Exclude<SignatureVerdict, { readonly status: 'valid' }>,
  { code, message, param }: WrongSignature,
): Refusal {
  switch (verdict.status) {
    case 'invalid':
      return refuse(code, message, param);
    case 'delegate_refuses':
      return refuse(
        code,
        'The key of this wallet signed, but the wallet has delegated to a contract (EIP-7702) ' +
          'that does not confirm it, so USDC refuses it. Remove the delegation in the wallet, or ' +
          'use another wallet. Nothing was charged.',
        param,
      );
    case 'not_deployed':
      return refuse(
        'wallet_not_deployed',
        'This wallet is a contract that is not on the chain yet, so its signature cannot be ' +
          'checked. Send something from it first, or use another wallet.',
        param,
      );
    case 'unavailable':
      return refuse(
        'service_unavailable',
        'The chain cannot be reached at the moment, so the signature cannot be checked. Nothing ' +
          'was charged. Try again.',
      );
  }
}
