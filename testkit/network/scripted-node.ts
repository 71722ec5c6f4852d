import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '#testkit/network/listen.ts';

export interface ScriptedCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface ScriptedReply {
  readonly status?: number;
  readonly body?: unknown;
  /** True if it never answers. */
  readonly silent?: boolean;
  /** Answers after this delay. */
  readonly delayMs?: number;
}

/** A third-party node that has no chain and sends the responses that a test sets. */
export interface ScriptedNode {
  readonly url: string;
  /** The requested methods, in order. */
  readonly calls: string[];
  /** Headers of the newest request. */
  headers: IncomingHttpHeaders;
  reply: (call: ScriptedCall) => ScriptedReply;
  /** Returns the response to `eth_chainId`. If `null`, the node responds with its own chain id. */
  chainId: (() => ScriptedReply) | null;
  stop(): Promise<void>;
}

/** Starts a node whose response to every call is its own name, unless the test sets another one. */
export async function startScriptedNode(name: string, chainId: number): Promise<ScriptedNode> {
  const calls: string[] = [];
  const node = {
    reply: (): ScriptedReply => ({ body: { result: name } }),
    chainId: null as ScriptedNode['chainId'],
    headers: {},
  } as Pick<ScriptedNode, 'reply' | 'chainId' | 'headers'>;
  const server = createServer(async (request, response) => {
    const parsed: unknown = JSON.parse(await text(request));
    node.headers = request.headers;
    const batch = (Array.isArray(parsed) ? parsed : [parsed]) as ScriptedCall[];
    const replies = batch.map((call) => {
      calls.push(call.method);
      if (call.method !== 'eth_chainId') return node.reply(call);
      return node.chainId?.() ?? { body: { result: `0x${chainId.toString(16)}` } };
    });
    const [first] = replies;
    if (first?.silent === true) return;
    if (first?.delayMs !== undefined) await sleep(first.delayMs);
    const bodies = replies.map(({ body }, i) => ({ id: batch[i]?.id, ...(body as object) }));
    response.writeHead(first?.status ?? 200);
    response.end(JSON.stringify(bodies.length === 1 ? bodies[0] : bodies.reverse()));
  });
  const { url, close } = await listen(server);
  return Object.assign(node, { url: `${url}/?key=secret`, calls, stop: close });
}
