import type { Chain } from '#settlement/chain/chain.ts';
import { type Deployment, simulateDeployed } from '#settlement/chain/check/verify-signature.ts';
import { quantity } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex, RequestPayloads } from '#settlement/chain-requests.ts';
import { enrolmentCall, transferCall } from '#settlement/contract/contract-calls.ts';
import { ENROLMENT_GAS, TRANSFER_GAS, withCallData } from '#settlement/gas-ceilings.ts';

interface Simulated {
  readonly status: 'accepted' | 'refused' | 'unavailable';
}

interface SignedCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/**
 * Simulates a signed transfer with limited gas, after the wallet's deployment if one is given.
 * Never throws.
 */
export function simulateTransfer(
  chain: Chain,
  transfer: RequestPayloads['transfer'],
  deployment: Deployment | null = null,
): Promise<Simulated> {
  const call = { to: chain.config.usdc, data: transferCall(transfer), gas: TRANSFER_GAS };
  return simulate(chain, call, deployment);
}

/**
 * Simulates a signed policy, permit or both, with limited gas, after the wallet's deployment. Never
 * throws.
 */
export function simulateEnrolment(
  chain: Chain,
  enrolment: RequestPayloads['enrolment'],
  deployment: Deployment,
): Promise<Simulated> {
  const call = { ...enrolmentCall(enrolment, chain.config), gas: ENROLMENT_GAS };
  return simulate(chain, call, deployment);
}

async function simulate(
  chain: Chain,
  { to, data, gas: least }: SignedCall,
  deployment: Deployment | null,
): Promise<Simulated> {
  const gas = withCallData(least, data);
  try {
    if (deployment !== null) {
      const isAccepted = await simulateDeployed(chain, deployment, { to, data, gas });
      return { status: isAccepted ? 'accepted' : 'refused' };
    }
    const call = { to, data, gas: quantity(gas), words: 'any' } as const;
    const [answer] = await chain.calls([call], 'latest', { urgent: true });
    if (answer === undefined) return { status: 'unavailable' };
    return { status: answer.ok ? 'accepted' : 'refused' };
  } catch (error) {
    if (error instanceof RpcUnavailable) return { status: 'unavailable' };
    throw error;
  }
}
