import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Tapline } from 'tapline';
import { listen } from '../../testkit/network/listen.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The server's reaction to one request: respond, or break the connection. */
export type Step =
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | 'cut'
  | 'hang'
  /** From this part on, sends the response one byte at a time, and cuts it after seconds. */
  | { readonly drips: 'headers' | 'chunks' | 'error page' };

/** A service with scripted faults that are too rare on a real one to test. */
export interface ScriptedApi {
  readonly tapline: Tapline;
  readonly baseUrl: string;
  readonly seen: Seen[];
  /** Scripts the next requests; afterwards the last step repeats. */
  script(...steps: Step[]): void;
  close(): Promise<void>;
}

export const KEY = `tlsk_test_${'a'.repeat(30)}`;

export function refusal(status: number, type: string, code: string, headers = {}): Step {
  const error = { type, code, message: `Refused: ${code}.`, param: null, request_id: 'req_1' };
  return { status, body: { error: { ...error, doc_url: '/docs' } }, headers };
}

const DRIP_MS = 100;
const DRIPS = 40;
const DRIPPED = {
  headers: ['', 'HTTP/1.1 200 OK\r\nX-Long: '],
  chunks: ['HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n', '{"id": "pi_1"'],
  'error page': ['HTTP/1.1 400 Bad Request\r\nContent-Length: 600\r\n\r\n', '<html>'],
} as const;

function drip(socket: Socket, part: keyof typeof DRIPPED): void {
  const [first, slow] = DRIPPED[part];
  socket.on('error', () => {}).write(first);
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < DRIPS) socket.write(slow[sent++] ?? ' ');
    else socket.destroy();
  }, DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

export async function startScriptedApi(): Promise<ScriptedApi> {
  const seen: Seen[] = [];
  let steps: Step[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    const step = steps.length > 1 ? steps.shift() : steps[0];
    if (step === 'hang') return;
    if (typeof step === 'object' && 'drips' in step) return drip(request.socket, step.drips);
    if (step === undefined || step === 'cut') return request.socket.destroy();
    const sent = typeof step.body === 'string' ? step.body : JSON.stringify(step.body);
    response.writeHead(step.status, { 'Content-Type': 'application/json', ...step.headers });
    response.end(sent);
  });
  const { url: root, close } = await listen(server);
  const baseUrl = `${root}/api`;
  return {
    tapline: new Tapline(KEY, { baseUrl }),
    baseUrl,
    seen,
    script: (...next) => {
      seen.length = 0;
      steps = next;
    },
    close,
  };
}
