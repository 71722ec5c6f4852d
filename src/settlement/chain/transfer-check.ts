import { size } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { quantity } from '#settlement/chain/decode.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { transferCall } from '#settlement/contract/contract-calls.ts';
import type { RequestPayloads } from '#settlement/requests.ts';

/**
 * Gas for a transfer of the token, including a contract wallet's check of its signature. The
 * settlement contract allows the same amount.
 */
const TRANSFER_GAS = 700_000n;
const BYTE_GAS = 60n;

/** Simulates a signed transfer with limited gas. Never throws. */
export async function simulateTransfer(
  chain: Chain,
  transfer: RequestPayloads['transfer'],
): Promise<{ readonly status: 'accepted' | 'refused' | 'unavailable' }> {
  const data = transferCall(transfer);
  const gas = quantity(TRANSFER_GAS + BigInt(size(data)) * BYTE_GAS);
  const call = { to: chain.config.usdc, data, gas, words: 'any' } as const;
  try {
    const [answer] = await chain.calls([call], 'latest', { urgent: true });
    if (answer === undefined) return { status: 'unavailable' };
    return { status: answer.ok ? 'accepted' : 'refused' };
  } catch (error) {
    if (error instanceof RpcUnavailable) return { status: 'unavailable' };
    throw error;
  }
}
