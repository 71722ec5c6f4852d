import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '#testkit/network/listen.ts';

/** A request as the merchant's server received it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly atMs: number;
}

export type Answerer = (received: Received, response: http.ServerResponse) => void | Promise<void>;

export type TestReceiver = Awaited<ReturnType<typeof startReceiver>>;

const WAIT_STEP_MS = 5;
const WAIT_LIMIT_MS = 8_000;

/** Starts a merchant's server, which records requests and responds as the test has set. */
export async function startReceiver(
  host = '127.0.0.1',
  create: (listener: http.RequestListener) => http.Server = (listener) =>
    http.createServer(listener),
) {
  const received: Received[] = [];
  let connections = 0;
  let answerer: Answerer = (_received, response) => void response.end('ok');
  const server = create((request, response) => {
    void buffer(request).then(
      (body) => {
        const { method = '', url: path = '', headers } = request;
        const entry = { method, path, headers, body, atMs: performance.now() };
        received.push(entry);
        return answerer(entry, response);
      },
      () => {},
    );
  });
  server.on('connection', () => connections++);
  const { url, port, close } = await listen(server, host);
  return {
    url,
    port,
    received: received as readonly Received[],
    /** Returns the number of connections that the server has accepted. */
    connections: () => connections,
    /** Sets how the server responds from now on. Default: 200 with `ok`. */
    answer: (next: Answerer) => {
      answerer = next;
    },
    /**
     * Returns the first `count` requests once they have arrived.
     * @throws if they do not arrive in time
     */
    waitFor: async (count: number, limitMs = WAIT_LIMIT_MS): Promise<readonly Received[]> => {
      const end = performance.now() + limitMs;
      while (received.length < count) {
        if (performance.now() > end) {
          throw new Error(`${received.length} of ${count} requests in ${limitMs} ms`);
        }
        await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
      }
      return received.slice(0, count);
    },
    close,
  };
}
