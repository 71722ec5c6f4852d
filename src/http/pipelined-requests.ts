import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The state of open connections. Node reads pipelined requests as they arrive. Without this state,
 * requests after a refused one would still run, and two responses could be mixed up.
 */
export interface Connections {
  /**
   * Call it for each request that arrives.
   * @returns false if an earlier request on this connection was malformed, so that this one must
   * not run.
   */
  begin(socket: Duplex, response: ServerResponse): boolean;
  /**
   * Call it when the rest of this connection's input cannot be trusted.
   * @returns false if it was called before.
   */
  distrust(socket: Duplex): boolean;
  /**
   * True if a request still waits for its response, so that writing another response would mix them
   * up. A request that broke off in the middle of its body does not count: it may still get an
   * error response.
   */
  owesAnswer(socket: Duplex): boolean;
}

/**
 * The state of one connection. Requests update it in place, so that none of them allocates an
 * object.
 */
interface Known {
  /** The response to the latest request; `null` after malformed input. */
  latest: ServerResponse | null;
  /** True if the latest request arrived before the one before it was answered. */
  isPipelined: boolean;
  isDistrusted: boolean;
}

export function createConnections(): Connections {
  const connections = new WeakMap<Duplex, Known>();
  const knownOf = (socket: Duplex): Known => {
    const connection = connections.get(socket);
    if (connection !== undefined) return connection;
    const known = { latest: null, isPipelined: false, isDistrusted: false };
    connections.set(socket, known);
    return known;
  };
  return {
    begin: (socket, response) => {
      const known = knownOf(socket);
      if (known.isDistrusted) return false;
      const before = known.latest;
      known.isPipelined = before?.writableFinished === false;
      // If the earlier response closed the connection, this request would get no response.
      if (before?.writableFinished === false && !before.headersSent) before.shouldKeepAlive = true;
      known.latest = response;
      return true;
    },
    distrust: (socket) => {
      const known = knownOf(socket);
      const isNew = !known.isDistrusted;
      known.isDistrusted = true;
      return isNew;
    },
    owesAnswer: (socket) => {
      const { latest, isPipelined } = knownOf(socket);
      if (latest === null || latest.writableFinished) return false;
      return isPipelined || latest.headersSent || latest.req.complete;
    },
  };
}
