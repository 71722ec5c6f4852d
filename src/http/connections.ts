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

/** What is known of one connection. Requests change it, so that none of them needs an object. */
interface Known {
  /** The answer to the latest request; null: something malformed came first. */
  latest: ServerResponse | null;
  /** That request came before the one in front of it was answered. */
  isPipelined: boolean;
  isDistrusted: boolean;
}

export function createConnections(): Connections {
  const connections = new WeakMap<Duplex, Known>();
  const knownOf = (socket: Duplex): Known => {
    const found = connections.get(socket);
    if (found !== undefined) return found;
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
      // An answer that closes the connection would leave this request without one.
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
