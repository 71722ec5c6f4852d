import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * What is known of open connections. Node reads requests that wait behind each other as they come:
 * without this, what follows a refused one would still run, and two answers could be mixed up.
 */
export interface Connections {
  /** Another request has come. false: what came before it was malformed, so it must not run. */
  begin(socket: Duplex, response: ServerResponse): boolean;
  /** Nothing more that comes on this connection can be trusted. @returns false if known before. */
  distrust(socket: Duplex): boolean;
  /**
   * An answer is owed that is not about the bytes which come now: writing another would mix them
   * up. A request whose own body breaks off may still be answered.
   */
  owesAnswer(socket: Duplex): boolean;
}

interface Latest {
  readonly response: ServerResponse;
  /** It came before the one in front of it was answered. */
  readonly isPipelined: boolean;
}

export function createConnections(): Connections {
  const latest = new WeakMap<Duplex, Latest>();
  const distrusted = new WeakSet<Duplex>();
  return {
    begin: (socket, response) => {
      if (distrusted.has(socket)) return false;
      const before = latest.get(socket);
      const isPipelined = before?.response.writableFinished === false;
      // An answer that closes the connection would leave this request without one.
      if (isPipelined && !before.response.headersSent) before.response.shouldKeepAlive = true;
      latest.set(socket, { response, isPipelined });
      return true;
    },
    distrust: (socket) => {
      const isNew = !distrusted.has(socket);
      distrusted.add(socket);
      return isNew;
    },
    owesAnswer: (socket) => {
      const last = latest.get(socket);
      if (last === undefined || last.response.writableFinished) return false;
      return last.isPipelined || last.response.headersSent || last.response.req.complete;
    },
  };
}
