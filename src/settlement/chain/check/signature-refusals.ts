import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type DecidedBy,
  type Deployment,
  type SignatureVerdict,
  verifySignature,
  verifyUndeployed,
} from '#settlement/chain/check/verify-signature.ts';
import { isKnownDeployment } from '#settlement/chain/read/known-deployments.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { isListedFactory } from '#settlement/wallet-factories.ts';

/** The error to return when a signature is not by the wallet. */
interface WrongSignature {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  /**
   * The parameter that names the wallet, if it differs from `param`. A wallet that is not deployed
   * is reported under this parameter.
   */
  readonly walletParam?: string;
}

export interface CheckedSignature {
  readonly signature: Hex;
  /** Set for a wallet that must be deployed before a contract accepts it (ERC-6492). */
  readonly deployment: Deployment | null;
}

/** Returns the chain of the mode; `null` if this process does not have it. */
export function chainOrNull(chains: readonly Chain[], livemode: boolean): Chain | null {
  return chains.find(({ config }) => config.livemode === livemode) ?? null;
}

/**
 * Checks a wallet's signature before anything is written or spent. If no node answers, the
 * signature is neither valid nor invalid, and the refusal is a 503.
 */
export async function checkSignature(
  chain: Chain | null,
  signed: {
    readonly signer: Hex;
    readonly digest: Hex;
    readonly signature: Hex;
    readonly by: DecidedBy;
    /**
     * Set to accept the signature of a wallet that is not deployed yet, if the operator lists its
     * factory and a simulated deployment accepts the signature. The caller must have the wallet
     * deployed before a contract checks the signature ({@link onceDeployed}).
     */
    readonly simulates?: true;
  },
  wrong: WrongSignature,
): Promise<CheckedSignature | Refusal> {
  const { digest, simulates, ...rest } = signed;
  const question = { ...rest, digests: [digest] };
  if (simulates !== true || chain === null) {
    const verdict = await verifySignature(chain, question);
    if (verdict.status !== 'valid') return refusalOf(verdict, wrong);
    return { signature: verdict.signature, deployment: null };
  }
  const { verdict, deployment } = await verifyDeployable(chain, question);
  if (verdict.status === 'valid') return { signature: verdict.signature, deployment };
  return refusalOf(verdict, wrong, chain.config.walletFactories);
}

/**
 * Deploys a wallet in a separate transaction, before the call that the wallet has signed is sent.
 */
export type DeployFirst = (input: {
  readonly chain: Chain;
  readonly wallet: Hex;
  readonly deployment: Deployment;
  /** Returns the chain's reason to refuse the signed call; `null` if the chain would accept it. */
  readonly whyUnable: () => Promise<Refusal | null>;
}) => Promise<Refusal | null>;

/**
 * Has the wallet of a checked signature deployed, if necessary, and then checks again, because a
 * wallet may answer differently in a simulation.
 * @returns the result of the last check, or the reason why the wallet was not deployed.
 */
export async function onceDeployed<
  T extends Pick<CheckedSignature, 'deployment'>,
  Why extends object,
>(
  first: T | Refusal,
  steps: {
    readonly deploy: (checked: T, deployment: Deployment) => Promise<Why | null>;
    readonly check: () => Promise<T | Refusal>;
  },
): Promise<T | Why | Refusal> {
  if (isRefusal(first) || first.deployment === null) return first;
  const unable = await steps.deploy(first, first.deployment);
  if (unable !== null) return unable;
  const again = await steps.check();
  // If a deployment still seems necessary, a lagging node does not know the wallet yet.
  return isRefusal(again) || again.deployment === null ? again : chainUnreachable();
}

/**
 * Like {@link verifySignature}, but a wallet that is not deployed yet is called in a simulation of
 * its deployment, if the operator lists its factory.
 * @returns the deployment that must come first, if the signature is valid; otherwise `null`.
 */
export async function verifyDeployable(
  chain: Chain,
  input: Parameters<typeof verifySignature>[1],
): Promise<{ readonly verdict: SignatureVerdict; readonly deployment: Deployment | null }> {
  const first = await verifySignature(chain, input);
  const deployment = first.status === 'not_deployed' ? first.deployment : null;
  if (deployment === null || !isListedFactory(chain.config, deployment.factory)) {
    return { verdict: first, deployment: null };
  }
  const known = await isKnown(chain, deployment);
  if (known !== true) return { verdict: known, deployment: null };
  const verdict = await verifyUndeployed(chain, { ...input, deployment });
  return { verdict, deployment: verdict.status === 'valid' ? deployment : null };
}

async function isKnown(chain: Chain, deployment: Deployment): Promise<true | NotChecked> {
  try {
    if (await isKnownDeployment(chain, deployment)) return true;
    return { status: 'not_deployed', deployment, isUnknown: true };
  } catch (error) {
    if (error instanceof RpcUnavailable) return { status: 'unavailable' };
    throw error;
  }
}

type NotChecked = Extract<SignatureVerdict, { status: 'not_deployed' | 'unavailable' }>;

/**
 * Returns the refusal for a signature that could not be verified, including the remedy.
 * @param factories the factories that the operator lists, whose wallets are deployed or simulated.
 */
export function refusalOf(
  verdict: Exclude<SignatureVerdict, { readonly status: 'valid' }>,
  { code, message, param, walletParam }: WrongSignature,
  factories: readonly Hex[] | null = null,
): Refusal {
  switch (verdict.status) {
    case 'invalid':
      return refuse(code, message, param);
    case 'delegate_refuses':
      return refuse(
        code,
        "This wallet's key signed, but the wallet has delegated to a contract (EIP-7702) " +
          'that does not confirm the signature, so USDC would reject it. Remove the ' +
          'delegation in the wallet, or use another wallet. Nothing was charged.',
        param,
      );
    case 'not_deployed':
      return notDeployed(whyNot(verdict, factories), walletParam ?? param);
    case 'unavailable':
      return chainUnreachable();
  }
}

/** Explains why a wallet will not be deployed. */
function whyNot(
  { deployment, isUnknown }: Extract<SignatureVerdict, { status: 'not_deployed' }>,
  factories: readonly Hex[] | null,
): string {
  if (isUnknown === true) {
    return 'and this network deploys only wallets whose code and initializer it knows';
  }
  if (deployment === null || factories === null) return 'so its signature cannot be checked';
  return factories.length === 0
    ? 'and this network does not deploy wallets'
    : `and this network does not deploy wallets from its factory, ${deployment.factory}`;
}

/** Returns the refusal for a wallet that is not deployed, including what its owner can do. */
export function notDeployed(why: string, param: string | null): Refusal {
  return refuse(
    'wallet_not_deployed',
    `This wallet is a contract that has not been deployed yet, ${why}. Send any ` +
      'transaction from it to deploy it, or use another wallet. Nothing was charged.',
    param,
  );
}

function chainUnreachable(): Refusal {
  return refuse(
    'service_unavailable',
    'The chain cannot be reached, so the signature cannot be checked. Nothing was charged. ' +
      'Try again.',
  );
}
