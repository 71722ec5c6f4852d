import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, Pool } from 'undici';
import type { Resolver } from '#webhooks/dns-resolver.ts';
import { hostOf } from '#webhooks/endpoint-url.ts';
import { DELIVERY_LIMIT_MS, Exchange, type Reply } from '#webhooks/http-exchange.ts';
import { type AddressPolicy, canonicalAddress } from '#webhooks/refuse-private-addresses.ts';
import { MAX_IN_FLIGHT } from '#webhooks/retry-schedule.ts';
import { skipContinue } from '#webhooks/skip-continue.ts';

export interface Network {
  readonly policy: AddressPolicy;
  readonly resolver: Resolver;
  /** Certificate authorities in addition to the default ones. */
  readonly ca?: string;
}

/** The connection pool of one endpoint, so that no endpoint can use up another's sockets. */
export interface Transport {
  /**
   * Sends one request and returns its response, within 10 s. Never throws: errors are part of the
   * result.
   */
  post(headers: readonly string[], body: Buffer, keptBytes?: number): Promise<Reply>;
  /** Destroys the sockets; requests in flight fail. */
  close(): void;
  /** Closes the sockets after the requests in flight. */
  closeGently(): void;
}

/** Thrown if any of the host's addresses is refused; nothing was sent. */
class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** A look-up is reused for this long, so that many simultaneous attempts do not flood DNS. */
const LOOKUP_HOLDS_MS = 1_000;
/**
 * The time for which an idle socket is kept: shorter than the idle time-outs of common servers, so
 * that requests are never written to a closing socket.
 */
const IDLE_SOCKET_MS = 2_000;
/** Time after which the next address of a host is tried as well. */
const NEXT_ADDRESS_MS = 300;

/** Creates a guard that resolves the host and checks its addresses. All of them must be allowed. */
function createGuard(url: URL, network: Network) {
  const host = hostOf(url);
  const policy = network.policy.forUrl(url);
  let checked: readonly string[] = [];
  let holdsUntil = 0;
  const accept = (addresses: readonly string[]) => {
    for (const address of addresses) {
      const reason = policy.refusalOf(address);
      if (reason !== null) throw new AddressRefused(`${address} is ${reason}`);
    }
    checked = addresses.map(canonicalAddress);
  };
  const literal = isIP(host) !== 0;
  return {
    isFresh: () => performance.now() < holdsUntil,
    /**
     * Resolves the host and checks its addresses.
     * @throws AddressRefused, or the resolver's error.
     */
    check: async (signal: AbortSignal) => {
      accept(literal ? [host] : await network.resolver.resolve(host, signal));
      holdsUntil = literal ? Number.POSITIVE_INFINITY : performance.now() + LOOKUP_HOLDS_MS;
    },
    addresses: () => checked,
    isChecked: (address: string | undefined) =>
      address !== undefined && checked.includes(canonicalAddress(address)),
  };
}

type Guard = ReturnType<typeof createGuard>;

/**
 * Returns a look-up that gives the checked addresses to the socket, so that the name is not
 * resolved a second time.
 */
function lookupOf(guard: Guard): LookupFunction {
  return (_host, options, callback) => {
    const addresses = guard.addresses().map((address) => ({ address, family: isIP(address) }));
    const first = addresses[0];
    if (first === undefined) callback(new AddressRefused('no checked address'), []);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
}

function connectorOf(guard: Guard, network: Network): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: DELIVERY_LIMIT_MS,
    lookup: lookupOf(guard),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ...(network.ca === undefined ? {} : { ca: network.ca }),
  });
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (guard.isChecked(socket.remoteAddress)) return callback(null, skipContinue(socket));
      socket.destroy();
      return callback(new AddressRefused('the socket went to an unchecked address'), null);
    });
  };
}

export function openTransport(url: URL, network: Network): Transport {
  const guard = createGuard(url, network);
  const pool = new Pool(url.origin, {
    connections: MAX_IN_FLIGHT,
    pipelining: 1,
    // Undici's own time limits are off, because the exchange has one limit for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_SOCKET_MS,
    connect: connectorOf(guard, network),
  });
  const path = url.pathname + url.search;
  let open = 0;
  let closing = false;
  const closeWhenIdle = () => {
    if (closing && open === 0 && !pool.closed && !pool.destroyed) pool.close().catch(() => {});
  };
  const send = (exchange: Exchange, headers: readonly string[], body: Buffer) => {
    try {
      pool.dispatch({ path, method: 'POST', headers: headers as string[], body }, exchange);
    } catch {
      exchange.finish('connection_failed');
    }
  };
  const checkThenSend = async (exchange: Exchange, headers: readonly string[], body: Buffer) => {
    try {
      await guard.check(exchange.lookupSignal());
    } catch (error) {
      exchange.finish(error instanceof AddressRefused ? 'address_refused' : 'dns_failed');
      return;
    }
    if (!exchange.isOver) send(exchange, headers, body);
  };
  return {
    post: async (headers, body, keptBytes) => {
      const exchange = new Exchange(keptBytes);
      open++;
      if (guard.isFresh()) send(exchange, headers, body);
      else void checkThenSend(exchange, headers, body);
      const reply = await exchange.reply;
      open--;
      closeWhenIdle();
      return reply;
    },
    close: () => {
      pool.destroy().catch(() => {});
    },
    closeGently: () => {
      closing = true;
      closeWhenIdle();
    },
  };
}
