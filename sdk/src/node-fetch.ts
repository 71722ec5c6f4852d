/** What is used of Node's own modules. This package has no types of Node. */
interface Builtins {
  readonly 'node:http': Http;
  readonly 'node:https': Http;
}

interface Http {
  readonly Agent: new (options: object) => object;
  request(url: string, options: object, onResponse: (incoming: Incoming) => void): Outgoing;
}

interface Outgoing {
  on(event: 'error', handle: (error: Error) => void): void;
  end(body: Uint8Array): void;
}

interface Incoming extends AsyncIterable<Uint8Array> {
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly rawHeaders: readonly string[];
  resume(): void;
  destroy(): void;
}

interface Runtime {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>;
    getBuiltinModule?<N extends keyof Builtins>(name: N): Builtins[N];
  };
}

const { process } = globalThis as Runtime;
const WITHOUT_BODY = [204, 205, 304];
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
/** Connections that use no proxy, by protocol. */
const direct = new Map<string, object>();

/**
 * `fetch` over `node:http`, for programs on Node 20.16 or newer. It differs in three ways: it never
 * decodes a response (Node's `fetch` decodes whatever the server compresses, and before 22.23.4,
 * 24.22.1 and 26.12.1 its Brotli decoder can be made to write beyond its buffer). It follows no
 * redirects. Of the environment's proxies it uses only the one for https, through a tunnel, and
 * none for this machine.
 */
export async function nodeFetch(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const request = new Request(input, init);
  const { method, signal, url } = request;
  const { protocol, hostname } = new URL(url);
  const http = builtin(protocol === 'https:' ? 'node:https' : 'node:http');
  const agent = direct.get(protocol) ?? new http.Agent({ keepAlive: true });
  direct.set(protocol, agent);
  const isDirect = protocol === 'http:' || LOOPBACK.test(hostname);
  const headers = { ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' };
  const options = { method, signal, headers, ...(isDirect ? { agent } : {}) };
  const body = new Uint8Array(await request.arrayBuffer());
  const incoming = await new Promise<Incoming>((resolve, reject) => {
    const outgoing = http.request(url, options, resolve);
    outgoing.on('error', (cause) => reject(faultOf(cause, signal)));
    outgoing.end(body);
  });
  return responseOf(incoming, signal);
}

/** Returns the error that `fetch` would reject with. */
function faultOf(cause: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : new TypeError('fetch failed', { cause });
}

async function* bytesOf(incoming: Incoming, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* incoming;
  } catch (cause) {
    throw faultOf(cause, signal);
  }
}

function responseOf(incoming: Incoming, signal: AbortSignal): Response {
  const { statusCode: status, statusMessage: statusText, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    incoming.destroy();
    throw faultOf(new Error(`the response is compressed (${encoding})`), signal);
  }
  const isEmpty = WITHOUT_BODY.includes(status);
  if (isEmpty) incoming.resume();
  // Node 20 and newer have it; the DOM's types do not.
  const { from } = ReadableStream as unknown as { from(bytes: object): ReadableStream };
  const body = isEmpty ? null : from(bytesOf(incoming, signal));
  return new Response(body, { status, statusText, headers });
}

function builtin<N extends keyof Builtins>(name: N): Builtins[N] {
  const module = process?.getBuiltinModule?.(name);
  if (module === undefined) throw new TypeError('this needs Node 20.16 or newer');
  return module;
}

/**
 * Returns a `fetch` for the URL that sends no key to a proxy in clear. With NODE_USE_ENV_PROXY,
 * Node's own would send requests to this machine through the environment's proxy.
 */
export function fetchFor(url: string): typeof fetch {
  return isFetchProxied() && LOOPBACK.test(new URL(url).hostname) ? nodeFetch : fetch;
}

function isFetchProxied(): boolean {
  const names = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));
  const dispatchers = names.map((name) => (globalThis as Record<symbol, object | undefined>)[name]);
  return (
    fromEnvironment('NODE_USE_ENV_PROXY') !== undefined ||
    dispatchers.some((one) => one?.constructor.name === 'EnvHttpProxyAgent')
  );
}

/**
 * Returns an environment variable. `undefined` if there is no environment (workers), or if it may
 * not be read (Deno).
 */
export function fromEnvironment(name: string): string | undefined {
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}
