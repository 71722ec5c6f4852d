import { decodeEventLog, pad, zeroHash } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { isAuthorizationUsed } from '#settlement/chain/payer.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { RawLog } from '#settlement/contract/contract-events.ts';
import type { OpenRequest } from '#settlement/relayer/machine/transaction.ts';
import { failed, type Result } from '#settlement/relayer/rows/facts.ts';
import { payloadOf } from '#settlement/relayer/rows/payloads.ts';
import type { Hex, RequestPayloads } from '#settlement/requests.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/** Longer than a reorganization goes back: an earlier block could accept the transfer again. */
const DEAD_AFTER_MS = 60_000;

type Transfer = RequestPayloads['transfer'];

/**
 * The end of a payer's transfer that the token refuses now. Anybody who saw the authorization may
 * send it, and we may have sent it before the database was put back. So it has succeeded when the
 * token's own event says so, and it has failed only when the token can never accept it again:
 * "failed" makes a person send once more.
 * @throws RpcUnavailable while neither is known.
 */
export async function endOfTransfer(chain: Chain, request: OpenRequest): Promise<Result> {
  const transfer = payloadOf(request, 'transfer');
  const head = await chain.newest();
  // At the block whose time is compared: a node that lags does not answer for it.
  if (await isAuthorizationUsed(chain, transfer, head.number)) {
    return resultOf(chain, await findEvent(chain, transfer, head.number));
  }
  const endsAt = Number(transfer.validBefore) * 1000;
  if (head.time.getTime() < endsAt + DEAD_AFTER_MS) {
    throw new RpcUnavailable('the token refuses it, and could still accept it');
  }
  return failed('transaction_reverted', null);
}

interface Found {
  readonly name: 'AuthorizationUsed' | 'AuthorizationCanceled';
  readonly log: RawLog;
}

async function findEvent(chain: Chain, { from, nonce }: Transfer, toBlock: bigint): Promise<Found> {
  const { usdc: address, deployedAtBlock: fromBlock } = chain.config;
  // Used or canceled: both events name owner and nonce in these places.
  const topics = [null, pad(from), nonce];
  const wanted = { address, fromBlock, toBlock, topics, newestFirst: true };
  for await (const { logs } of chain.logPortions(wanted)) {
    for (const log of logs) {
      const name = nameOf(log);
      if (name === 'AuthorizationUsed' || name === 'AuthorizationCanceled') return { name, log };
    }
  }
  throw new RpcUnavailable('no node has the event of an authorization that is used');
}

/** null: no event that we know. */
function nameOf({ topics, data }: RawLog): string | null {
  const [selector = zeroHash, ...indexed] = topics;
  try {
    return decodeEventLog({ abi: testUsdcAbi, topics: [selector, ...indexed], data }).eventName;
  } catch {
    return null;
  }
}

async function resultOf(chain: Chain, { name, log }: Found): Promise<Result> {
  const txHash: Hex = log.transactionHash;
  if (name === 'AuthorizationCanceled') return failed('transaction_reverted', txHash);
  const block = await chain.block(BigInt(log.blockNumber));
  if (block === null) throw new RpcUnavailable('the block of an event is gone');
  const facts = {
    txHash,
    blockNumber: BigInt(log.blockNumber).toString(),
    logIndex: Number(log.logIndex),
    blockTime: block.time.toISOString(),
  };
  return { succeeded: true, facts };
}
