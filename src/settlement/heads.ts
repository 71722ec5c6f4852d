import type { Log } from '#core/log.ts';

/** Tells of new blocks when the node does. A hint only: polling goes on, at a slower pace. */
export interface HeadSubscription {
  /** Whether the node is telling at present. */
  isLive(): boolean;
  stop(): void;
}

const RECONNECT_MS = 1_000;

export function subscribeHeads(url: string, onHead: () => void, log: Log): HeadSubscription {
  let socket: WebSocket | undefined;
  let live = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const again = () => {
    // Only the host: paths and queries of such addresses often hold the provider's key.
    const node = new URL(url).host;
    if (live && !stopped) log.warn('the node tells of no blocks any more: polling', { node });
    live = false;
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(connect, RECONNECT_MS).unref();
  };
  const connect = () => {
    socket = new WebSocket(url);
    socket.onopen = () => {
      const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] };
      socket?.send(JSON.stringify(request));
    };
    socket.onmessage = ({ data }) => {
      const { id, result, method } = readMessage(data);
      if (id === 1) live = result !== undefined;
      if (method === 'eth_subscription') onHead();
    };
    socket.onclose = again;
    socket.onerror = () => socket?.close();
  };
  connect();
  return {
    isLive: () => live,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}

function readMessage(data: unknown): { id?: unknown; result?: unknown; method?: unknown } {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === 'object' && message !== null ? message : {};
  } catch {
    return {};
  }
}
