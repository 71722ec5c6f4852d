import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Output } from '../output.ts';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
} from './sdk.ts';

const PATH = '/mcp';

/**
 * Streamable HTTP on this machine only. Other users and any web page can reach the port, too, so
 * each request must carry a token and name this machine in its `Host` and `Origin`.
 */
export async function serveOverHttp(
  create: () => McpServer,
  { port, out }: { readonly port: number; readonly out: Output },
): Promise<number> {
  const { TAPLINE_MCP_TOKEN: given } = process.env;
  const token = given || randomBytes(24).toString('base64url');
  const { fetch: handle, close } = createMcpHandler(create);
  const answer = async (request: Request): Promise<Response> => {
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (refused !== undefined) return refused;
    if (new URL(request.url).pathname !== PATH) return new Response(null, { status: 404 });
    return carries(request, token) ? handle(request) : unauthorized();
  };
  const server = createServer((request, response) => {
    void passOn(request, response, answer);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
  const shown = given ? {} : { token };
  const words = given ? '' : `\nAuthorization: Bearer ${token}`;
  out.show({ url, ...shown }, `${url}${words}`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await close();
  server.close();
  server.closeAllConnections();
  return 0;
}

function unauthorized(): Response {
  return new Response(null, { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } });
}

function carries(request: Request, token: string): boolean {
  const sum = (text: string) => createHash('sha256').update(text).digest();
  const sent = request.headers.get('authorization') ?? '';
  return timingSafeEqual(sum(sent), sum(`Bearer ${token}`));
}

/** Converts Node's request to a web `Request`, calls the handler, and writes its `Response`. */
export async function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const request = webRequest(incoming, gone.signal);
  if (request === null) {
    outgoing.writeHead(400, { Connection: 'close' }).end();
    return;
  }
  try {
    const { status, headers, body } = await answer(request);
    // Closes the connection, because the body of a refused request was not read.
    if (status >= 400) headers.set('Connection', 'close');
    outgoing.writeHead(status, Object.fromEntries(headers));
    if (body === null) outgoing.end();
    else await pipeline(Readable.fromWeb(body as ReadableStream), outgoing);
  } catch {
    // Responds to an internal error with only its status.
    if (!outgoing.headersSent) outgoing.writeHead(500, { Connection: 'close' });
    outgoing.end();
  }
}

/** Converts a request. @returns `null` if it is invalid, for example for a malformed `Host`. */
function webRequest(incoming: IncomingMessage, signal: AbortSignal): Request | null {
  const { method = 'GET', headers } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const init = {
    ...{ method, headers: sent, signal },
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  };
  try {
    return new Request(new URL(incoming.url ?? '/', `http://${headers.host}`), init as RequestInit);
  } catch {
    return null;
  }
}
