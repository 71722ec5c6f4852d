import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ChainSaver } from './chain-state.ts';
import type { RpcCall } from './json-rpc.ts';

/** Number of consecutive failed blocks after which the chain counts as lost. */
const FAILED_BLOCKS_MAX = 10;

/** Block interval while nothing is pending: longer, because all blocks are stored forever. */
const IDLE_BLOCK_MS = 1_000;

/**
 * Time for which blocks stay frequent after a block with transactions, because confirmations,
 * refunds and taps follow.
 */
const BUSY_MS = 5_000;

export interface Miner {
  readonly call: RpcCall;
  readonly blockMs: number;
  readonly rpcUrl: string;
}

/**
 * Makes a block each `blockMs` until the signal aborts. An interval below a second applies only
 * while transactions are pending; otherwise there is one block per second.
 */
export async function mineBlocks(
  { call, rpcUrl, blockMs }: Miner,
  saver: ChainSaver,
  signal: AbortSignal,
): Promise<void> {
  const pool = blockMs < IDLE_BLOCK_MS ? watchPool(rpcUrl) : undefined;
  signal.addEventListener('abort', () => pool?.close());
  let nextAt = performance.now();
  let minedAt = Number.NEGATIVE_INFINITY;
  let busyUntil = minedAt;
  let failures = 0;
  const isDue = () => {
    const now = performance.now();
    // If no tick is exactly a second after the last block, use the nearest tick.
    const idleMs = IDLE_BLOCK_MS - blockMs / 2;
    return pool === undefined || pool.due || now < busyUntil || now - minedAt >= idleMs;
  };
  while (!signal.aborted) {
    try {
      if (isDue()) {
        pool?.reset();
        await call('evm_mine');
        minedAt = performance.now();
        const count = await call('eth_getBlockTransactionCountByNumber', ['latest']);
        if (Number(count) > 0) busyUntil = minedAt + BUSY_MS;
        await saver.saveWhenDue(Number(count) > 0);
      }
      failures = 0;
    } catch (cause) {
      failures += 1;
      if (failures === FAILED_BLOCKS_MAX) throw cause;
    }
    // Skip late blocks: making them up after a pause would not help.
    nextAt = Math.max(nextAt + blockMs, performance.now());
    const pauseMs = Math.max(0, nextAt - performance.now());
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Reports new transactions in a node's pool, so that the pool need not be polled. */
interface PoolNews {
  /**
   * True if transactions may have arrived since the last `reset`, or if the subscription is down.
   */
  readonly due: boolean;
  reset(): void;
  close(): void;
}

/** Interval of connection attempts: a local node is back within moments, or not at all. */
const RECONNECT_MS = 1_000;

const SUBSCRIBE = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe' };

/**
 * Subscribes to the transactions in a node's pool. While there is no subscription, `due` is true,
 * so that each tick makes a block.
 */
function watchPool(rpcUrl: string): PoolNews {
  let subscribed = false;
  let came = true;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let socket: WebSocket;
  const connect = () => {
    socket = new WebSocket(rpcUrl.replace(/^http/, 'ws'), { perMessageDeflate: false });
    socket.onopen = () => {
      socket.send(JSON.stringify({ ...SUBSCRIBE, params: ['newPendingTransactions'] }));
    };
    // The first message confirms the subscription. Transactions may have arrived before then.
    socket.onmessage = () => {
      subscribed = true;
      came = true;
    };
    // The connection closes afterwards.
    socket.onerror = () => {};
    socket.onclose = () => {
      subscribed = false;
      if (!closed) timer = setTimeout(connect, RECONNECT_MS).unref();
    };
  };
  connect();
  return {
    get due() {
      return came || !subscribed;
    },
    reset: () => {
      came = false;
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      socket.close();
    },
  };
}
