import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainSaver } from './chain-state.ts';
import type { RpcCall } from './json-rpc.ts';

/** Consecutive blocks that may fail before the chain counts as lost. */
const FAILED_BLOCKS_MAX = 10;

/** The interval of blocks while nothing is pending, because each block is stored forever. */
const IDLE_BLOCK_MS = 1_000;

/** After a block with transactions more follow soon: confirmations, refunds, more taps. */
const BUSY_MS = 5_000;

export interface Miner {
  readonly call: RpcCall;
  readonly blockMs: number;
  readonly rpcUrl: string;
}

/**
 * Makes a block each `blockMs` until the signal. Blocks shorter than a second are made only while
 * something is pending, and once a second otherwise.
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
    // The last tick before a second has passed is closer to it than the first one after.
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
    // Late blocks are not made up for, because a burst after a pause would not be a steady chain
    // either.
    nextAt = Math.max(nextAt + blockMs, performance.now());
    const pauseMs = Math.max(0, nextAt - performance.now());
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Reports new transactions in a node's pool, so that the pool need not be polled. */
interface PoolNews {
  /** True if some may have arrived since the last `reset`, or if that is unknown. */
  readonly due: boolean;
  reset(): void;
  close(): void;
}

/** A local node is gone or back within moments. */
const RECONNECT_MS = 1_000;

const SUBSCRIBE = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe' };

/**
 * Subscribes to the transactions that reach the pool of the node at this address. Without a
 * subscription `due` is true, so that each tick makes a block.
 */
function watchPool(rpcUrl: string): PoolNews {
  let subscribed = false;
  let came = true;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let socket: WebSocket;
  const connect = () => {
    socket = new WebSocket(rpcUrl.replace(/^http/, 'ws'));
    socket.onopen = () => {
      socket.send(JSON.stringify({ ...SUBSCRIBE, params: ['newPendingTransactions'] }));
    };
    // The first message confirms the subscription; transactions may have arrived before it.
    socket.onmessage = () => {
      subscribed = true;
      came = true;
    };
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
