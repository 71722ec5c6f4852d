import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import { refuse } from '#core/answer.ts';
import { systemClock } from '#core/clock.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import { type AnyRoute, type Caller, defineRoute, type Route, type Surface } from '#http/route.ts';
import { buildServer, type ServerOptions } from '#http/server.ts';
import { silentLog } from '#observability/log.ts';
import { watchMoves } from '#testkit/fixtures/db/moves-guard.ts';

/** The API key that the surfaces of these tests accept. */
export const GOOD_KEY = 'good';

const caller: Caller = {
  tenant: { accountId: 'acct_test', livemode: false },
  rateKey: 'key_test',
  idempotencySpace: '',
  scopes: ['payments:read'],
  apiVersion: '2026-09-28',
};

/** Creates an API surface without a database, to test the HTTP layer alone. */
export function bareSurface(routes: readonly AnyRoute[]): Surface {
  return {
    root: '/api/v1',
    authenticate: async ({ authorization }) => {
      if (authorization === undefined) return refuse('api_key_missing', 'No key.');
      if (authorization !== `Bearer ${GOOD_KEY}`) return refuse('api_key_invalid', 'Wrong key.');
      return caller;
    },
    routes,
  };
}

/** Declares a route that needs only the key, to test the HTTP layer. Default: GET. */
export function bareRoute<
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: Pick<Route<Caller, Q, B>, 'path' | 'handle'> & Partial<Route<Caller, Q, B>>): AnyRoute {
  const { method = 'GET', path } = route;
  return defineRoute<Caller, Q, B>({
    method,
    operationId: `${method} ${path}`,
    moves: 'nothing',
    tag: 'Things',
    summary: 'Things',
    scope: null,
    idempotency: 'ignored',
    responses: { 200: { schema: null, description: 'Things.' } },
    errors: [],
    ...route,
  });
}

export interface BareServer {
  readonly url: string;
  readonly port: number;
  readonly app: FastifyInstance;
  close(): Promise<void>;
}

export async function startBareServer(
  options: Partial<ServerOptions> & Pick<ServerOptions, 'surfaces'>,
): Promise<BareServer> {
  const app = await buildServer({
    clock: systemClock,
    limiter: memoryRateLimiter({ requests: 1_000_000, seconds: 1 }),
    log: silentLog,
    trustedProxies: [],
    around: watchMoves,
    ...options,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    port: Number(new URL(url).port),
    app,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** True if the server closed the connection before the time-out. */
  readonly closed: boolean;
  readonly responses: number;
}

function parseRaw(text: string): Omit<RawAnswer, 'closed'> {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((header) => {
      const [name = '', ...value] = header.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    }),
  );
  return {
    status: Number(line.split(' ')[1] ?? 0),
    headers,
    text: rest.join('\r\n\r\n'),
    responses: text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0,
  };
}

/**
 * Sends raw bytes, and collects responses until the server closes the connection or `waitMs` has
 * passed.
 */
export function sendRaw(port: number, bytes: string | Buffer, waitMs = 1_000): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let closed = true;
    const timer = setTimeout(() => {
      closed = false;
      socket.destroy();
    }, waitMs);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ ...parseRaw(text), closed });
    });
    socket.write(bytes);
  });
}
