import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { settleCall } from '#settlement/contract/contract-calls.ts';
import { heldAccount } from '#testing/held-key.ts';
import type { RelayerWorld } from '#testing/relayer-world.ts';

const GAS_OF_ONE = 450_000n;
/** A priority fee above the relayer's, so that blocks include these transactions first. */
const HIGH_TIP = 5_000_000_000n;
const FIRST_NUMBER = 5_000_000n;
const FAR_FUTURE = 2 ** 40 - 1;
/** The amount of each payment in atoms, and the total charged: fees are added, rounded down. */
const SALE = { amount: 1_000n, charged: 1_005n } as const;

/**
 * Prepares batches of one payment each, which go directly to the chain, signed with the network's
 * last operator key. They stay in the pool until the next block.
 * @returns a function that sends this many batches and returns the sum that the payer is charged
 */
export function outsideBatches(
  world: RelayerWorld,
  payer: PrivateKeyAccount,
): (count: number) => Promise<bigint> {
  const { config, rpc } = world.network;
  const operator = heldAccount(present(config.relayerKeys.at(-1), 'key'));
  const { merchantNumber } = world.merchant;
  let next = FIRST_NUMBER;
  return async (count) => {
    const { address } = operator;
    const pending = Number(await rpc.call('eth_getTransactionCount', [address, 'pending']));
    for (let i = 0; i < count; i++) {
      const sale = { merchantNumber, amount: SALE.amount, payer: payer.address, orderId: 'PAST' };
      const raw = await operator.signTransaction({
        type: 'eip1559',
        chainId: config.chainId,
        nonce: pending + i,
        to: config.settlement,
        data: settleCall([{ ...sale, number: next++ }], FAR_FUTURE),
        gas: GAS_OF_ONE,
        maxFeePerGas: 4n * HIGH_TIP,
        maxPriorityFeePerGas: HIGH_TIP,
      });
      await rpc.call('eth_sendRawTransaction', [raw]);
    }
    return SALE.charged * BigInt(count);
  };
}
