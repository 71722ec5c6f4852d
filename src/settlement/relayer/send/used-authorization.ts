import { decodeEventLog, encodeFunctionData, pad, zeroHash } from 'viem';
import { type Chain, decodeView } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import type { Result } from '#settlement/relayer/rows/facts.ts';
import { payloadOf } from '#settlement/relayer/rows/payloads.ts';
import type { OpenRequest } from '#settlement/relayer/rows/state.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/**
 * The token refuses a payer's transfer. Whoever saw the authorization may have sent it, and so may
 * we, before the database was put back: then the money has arrived, and calling it failed would
 * make the payer send it twice. null: the authorization is unused, or its owner canceled it.
 * @throws RpcUnavailable when the token says that it is used and no node has the event.
 */
export async function findUsed(chain: Chain, request: OpenRequest): Promise<Result | null> {
  if (request.kind !== 'transfer') return null;
  const { from, nonce } = payloadOf(request, 'transfer');
  const args = [from, nonce] as const;
  const functionName = 'authorizationState';
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName, args });
  const { usdc: to, deployedAtBlock: fromBlock } = chain.config;
  const [state] = await chain.calls([{ to, data, words: 1 }]);
  if (decodeView(state, BigInt) === 0n) return null;
  const { number: toBlock } = await chain.newest();
  // Its own event or that of a cancellation: both name owner and nonce in these places.
  const topics = [null, pad(from), nonce];
  const wanted = { address: to, fromBlock, toBlock, topics, newestFirst: true };
  for await (const { logs } of chain.logPortions(wanted)) {
    for (const log of logs) {
      const name = eventName(log);
      if (name === 'AuthorizationUsed') return placed(chain, log);
      if (name === 'AuthorizationCanceled') return null;
    }
  }
  throw new RpcUnavailable('no node has the event of an authorization that is used');
}

/** null: another event of the token, that has its parties in the same places. */
function eventName({ topics, data }: RawLog): string | null {
  const [selector = zeroHash, ...indexed] = topics;
  try {
    return decodeEventLog({ abi: testUsdcAbi, topics: [selector, ...indexed], data }).eventName;
  } catch {
    return null;
  }
}

async function placed(chain: Chain, log: RawLog): Promise<Result> {
  const block = await chain.block(BigInt(log.blockNumber));
  if (block === null) throw new RpcUnavailable('the block of an event is gone');
  const facts = {
    txHash: log.transactionHash,
    blockNumber: BigInt(log.blockNumber).toString(),
    logIndex: Number(log.logIndex),
    blockTime: block.time.toISOString(),
  };
  return { succeeded: true, facts };
}
