import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listen } from '#testkit/network/listen.ts';

/** A proxy before a sandbox. It can be cut, and can serve the apps as a later build would be. */
export interface Gateway {
  readonly url: string;
  /** From now on, every script has another name, and the names before are gone. */
  deploy(): void;
  cut(): void;
  join(): void;
  close(): Promise<void>;
}

const SCRIPT = /(?<=assets\/[\w.-]+)\.js(?=["?]|$)/g;
const LATER = /\.later\.js$/;

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

export async function gatewayTo(origin: string): Promise<Gateway> {
  let [isCut, isLater] = [false, false];
  const pass = async (ask: IncomingMessage, reply: ServerResponse) => {
    if (isCut) return void ask.socket.destroy();
    const path = String(ask.url);
    const isScript = path.match(SCRIPT) !== null;
    if (isLater && isScript && !LATER.test(path)) return void reply.writeHead(404).end();
    const { method, headers } = ask;
    const { 'if-none-match': _known, ...plain } = { ...headers, 'accept-encoding': 'identity' };
    const sent = request(origin + path.replace(LATER, '.js'), { method, headers: plain });
    sent.on('error', () => ask.socket.destroy());
    reply.on('close', () => sent.destroy());
    sent.on('response', async (answer) => {
      if (!isLater || !path.endsWith('/worker.js')) {
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        return void answer.pipe(reply);
      }
      const { 'content-length': _length, ...kept } = answer.headers;
      reply.writeHead(answer.statusCode ?? 502, kept);
      const text = (await textOf(answer)).replaceAll(SCRIPT, '.later.js');
      reply.end(text.replace(/"version":"/, '"version":"later-'));
    });
    ask.pipe(sent);
  };
  const server = await listen(createServer((ask, reply) => void pass(ask, reply)));
  return {
    url: server.url,
    deploy: () => {
      isLater = true;
    },
    cut: () => {
      isCut = true;
      server.cutAll();
    },
    join: () => {
      isCut = false;
    },
    close: server.close,
  };
}
