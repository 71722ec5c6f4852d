import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** Limit of a request's body. A payload has about 2 KB. */
const BODY_LIMIT = 64 * 1024;

/** Serves a web request handler with `node:http`. The caller listens. */
export function serverOf(handle: (request: Request) => Promise<Response>): Server {
  return createServer((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch((error: unknown) => {
      console.error(error);
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    });
  });
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET', headers, url = '/' } = incoming;
  const body = await readBody(incoming);
  if (body === null) {
    outgoing.writeHead(413, { Connection: 'close' }).end();
    return;
  }
  const request = new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
    method,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    ),
    ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
  });
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_LIMIT) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
