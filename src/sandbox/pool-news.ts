/** Says when transactions came to a node, so that nobody looks into its pool over and over. */
export interface PoolNews {
  /** Whether some may have come since the last `reset`; true whenever that is not known. */
  readonly due: boolean;
  reset(): void;
  close(): void;
}

/** A node on this machine is gone or back within moments. */
const RECONNECT_MS = 1_000;

const SUBSCRIBE = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe' };

/**
 * Subscribes to the transactions that reach the pool of the node at this address. While the node
 * does not answer, `due` stays true: its owner then looks as often as it can.
 */
export function watchPool(rpcUrl: string): PoolNews {
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
    // The first message confirms the subscription. What came before it is looked for once more.
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
