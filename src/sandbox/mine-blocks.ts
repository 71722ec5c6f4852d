import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainSaver } from './chain-state.ts';
import type { RpcCall } from './json-rpc.ts';

/** Blocks in a row that may fail before the chain counts as lost. */
const FAILED_BLOCKS_MAX = 10;

/** Blocks that nobody waits for come this seldom: each is kept and saved for ever. */
const IDLE_BLOCK_MS = 1_000;

/** After a block with transactions more follow soon: what waits for depth, refunds, more taps. */
const BUSY_MS = 5_000;

export interface Miner {
  readonly call: RpcCall;
  readonly blockMs: number;
  readonly rpcUrl: string;
}

/**
 * Makes a block each `blockMs` until the signal. Blocks shorter than a second come only while
 * something is under way, and once a second otherwise.
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
    // The last tick before a second is over is nearer to it than the first one after.
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
    // Late blocks are not made up for: a burst after a pause would be no steady chain either.
    nextAt = Math.max(nextAt + blockMs, performance.now());
    const pauseMs = Math.max(0, nextAt - performance.now());
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Says when transactions came to a node, so that nobody looks into its pool over and over. */
interface PoolNews {
  /** Whether some may have come since the last `reset`; true whenever that is not known. */
  readonly due: boolean;
  reset(): void;
  close(): void;
}

/** A node on this machine is gone or back within moments. */
const RECONNECT_MS = 1_000;

const SUBSCRIBE = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe' };

/**
 * Subscribes to the transactions that reach the pool of the node at this address. Without a
 * subscription `due` is true: then each tick makes a block.
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
    // The first message confirms the subscription: transactions may have come before it.
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
