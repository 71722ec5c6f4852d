import { WebSocket } from 'ws';
import type { Log } from '#observability/log.ts';

export interface AnnouncedHead {
  readonly number: bigint;
  readonly hash: string;
  readonly parentHash: string;
  /** The block's own time, in milliseconds. */
  readonly time: number;
}

/**
 * Receives new blocks from a node that announces them. Announcements may be lost, so polling
 * continues at a slower pace.
 */
export interface HeadSubscription {
  /** True while the node is announcing blocks. */
  isLive(): boolean;
  stop(): void;
}

const RECONNECT_MS = 1_000;
/** Maximum pause between attempts to reconnect, for providers that refuse subscriptions. */
const MAX_RECONNECT_MS = 60_000;
/**
 * Reconnects after this much silence, because a dead socket may go unnoticed. Longer than two slots
 * of 12 s, because Ethereum occasionally misses a slot.
 */
const SILENT_MS = 40_000;

/** Node's own WebSocket would decode a compressed response to the handshake. */
const PLAIN = { perMessageDeflate: false };

export function subscribeHeads(
  url: string,
  onHead: (head: AnnouncedHead) => void,
  log: Log,
): HeadSubscription {
  // Log only the host, because paths and queries of such URLs often contain a key.
  const node = new URL(url).host;
  let socket: WebSocket | undefined;
  let live = false;
  let stopped = false;
  let pauseMs = RECONNECT_MS;
  let timer: NodeJS.Timeout | undefined;
  const later = (run: () => void, ms: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(run, ms).unref();
  };
  const again = () => {
    if (live && !stopped)
      log.warn('lost the connection that announces new blocks; polling instead', { node });
    pauseMs = live ? RECONNECT_MS : Math.min(pauseMs * 2, MAX_RECONNECT_MS);
    live = false;
    later(connect, pauseMs);
  };
  const drop = (socket: WebSocket) => {
    // A half-closed connection may never report its end.
    socket.onclose = null;
    socket.close();
    again();
  };
  const connect = () => {
    const own = new WebSocket(url, PLAIN);
    socket = own;
    later(() => drop(own), SILENT_MS);
    own.onopen = () => {
      const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] };
      own.send(JSON.stringify(request));
    };
    own.onmessage = ({ data }) => {
      const { id, result, method, params } = readMessage(data);
      if (id === 1 && typeof result !== 'string') return drop(own);
      const head = method === 'eth_subscription' ? readHeader(params) : null;
      if (id !== 1 && head === null) return;
      live = true;
      later(() => drop(own), SILENT_MS);
      if (head !== null) onHead(head);
    };
    own.onclose = again;
    own.onerror = () => own.close();
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

interface Message {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

function readMessage(data: unknown): Message {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === 'object' && message !== null ? message : {};
  } catch {
    return {};
  }
}

/** Parses a block header; `null` if it is not one. */
function readHeader(params: unknown): AnnouncedHead | null {
  const result = fieldsOf(fieldsOf(params).result);
  const { number, hash, parentHash, timestamp } = result;
  const isBlock = [number, hash, parentHash, timestamp].every(
    (value) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value),
  );
  if (!isBlock) return null;
  return {
    number: BigInt(number as string),
    hash: hash as string,
    parentHash: parentHash as string,
    time: Number(timestamp) * 1000,
  };
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/**
 * Returns the URL at which the provider of an http(s) URL announces blocks: the same URL with
 * ws(s), except that Infura has a separate path.
 */
export function headsUrlOf(rpcUrl: string): string {
  const url = new URL(rpcUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (/\.infura\.io$/i.test(url.hostname)) url.pathname = url.pathname.replace(/^\/v3/, '/ws/v3');
  return url.href;
}

/** Returns a log line of advice if the service starts without a WS_URL setting. */
export function headsAdvice(config: {
  readonly network: string;
  readonly headsUrl: string | null;
}): string | null {
  if (config.headsUrl !== null) return null;
  const setting = `CHAIN_${config.network.toUpperCase()}_WS_URL`;
  return (
    `${setting} is not set: new blocks are polled for. With "auto", results arrive ` +
    'sooner and with fewer requests, if the provider announces new blocks'
  );
}
