import { createServer } from 'node:http';
import zlib, { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Listening, listen } from './listen.ts';

const DECODER = /^(create|)(Brotli|Zstd)Decompress|^(create|)(Gunzip|Inflate|InflateRaw|Unzip)$/;

/** Records every decoder of `node:zlib` that is created. @returns their names */
export function recordDecoders(): string[] {
  const created: string[] = [];
  const all = zlib as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const [name, create] of Object.entries(all).filter(([name]) => DECODER.test(name))) {
    const recorded = (...args: unknown[]) => {
      created.push(name);
      return create(...args);
    };
    Object.defineProperty(all, name, { value: recorded, configurable: true });
  }
  return created;
}

const TEXT = '{"id": "decoded"}';

/** Responses that are compressed although every request asks for identity. */
export const ENCODED = {
  br: { status: 200, encoding: 'br', body: brotliCompressSync(TEXT) },
  'gzip, br': { status: 200, encoding: 'gzip, br', body: brotliCompressSync(gzipSync(TEXT)) },
  redirect: { status: 302, encoding: 'br', body: brotliCompressSync(TEXT) },
} as const;

export interface EncodingServer extends Listening {
  /** The responses that it sends from now on. */
  sends: keyof typeof ENCODED;
  /** The `Accept-Encoding` of each request; `undefined` if it had none. */
  readonly accepted: (string | undefined)[];
}

/** Starts a server that compresses its responses, even to WebSocket handshakes. */
export async function startEncodingServer(): Promise<EncodingServer> {
  const accepted: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    accepted.push(request.headers['accept-encoding']?.toString());
    const { status, encoding, body } = ENCODED[own.sends];
    response.writeHead(status, { 'content-encoding': encoding, location: '/elsewhere' });
    response.end(body);
  });
  server.on('upgrade', (request, socket) => {
    accepted.push(request.headers['accept-encoding']?.toString());
    const { status, encoding, body } = ENCODED[own.sends];
    socket.write(`HTTP/1.1 ${status} x\r\ncontent-encoding: ${encoding}\r\n`);
    socket.end(Buffer.concat([Buffer.from(`content-length: ${body.length}\r\n\r\n`), body]));
  });
  const own: EncodingServer = Object.assign(await listen(server), {
    sends: 'br' as const,
    accepted,
  });
  return own;
}
