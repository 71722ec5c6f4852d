import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ProviderCall } from '#testkit/network/back-ends.ts';
import { listen } from '#testkit/network/listen.ts';

type NodeMood =
  | 'well'
  /** Cuts each connection. */
  | 'down'
  /** Never answers. */
  | 'hanging'
  | 'limiting the rate'
  /** Forwards broadcasts, then cuts the connection without responding. */
  | 'losing answers to broadcasts'
  /** Accepts broadcasts and forgets them. */
  | 'dropping broadcasts';

export interface NodeCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface FaultyNode {
  readonly url: string;
  mood: NodeMood;
  /** Returns the error with which to respond; `null` for the normal response. */
  refuse: (call: NodeCall) => string | null;
  readonly calls: Map<string, number>;
  /** Functions that are called for each call that the node receives. */
  readonly watchers: Set<(call: ProviderCall) => void>;
  stop(): Promise<void>;
}

/** Starts a faulty provider that forwards calls to the test's chain. */
export async function startFaultyNode(target: string): Promise<FaultyNode> {
  const calls = new Map<string, number>();
  const watchers: FaultyNode['watchers'] = new Set();
  const node = { mood: 'well' as NodeMood, refuse: (_call: NodeCall): string | null => null };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { mood } = node;
    const parsed: unknown = JSON.parse(body);
    const reply = (Array.isArray(parsed) ? parsed : [parsed]) as NodeCall[];
    for (const call of reply) {
      calls.set(call.method, (calls.get(call.method) ?? 0) + 1);
      for (const watch of watchers) watch(call);
    }
    const broadcasts = reply.some((call) => call.method === 'eth_sendRawTransaction');
    if (mood === 'down') return void request.socket.destroy();
    if (mood === 'hanging') return;
    if (mood === 'limiting the rate') {
      response.writeHead(429).end('slow down');
      return;
    }
    if (mood === 'dropping broadcasts' && broadcasts) {
      const answers = reply.map(({ id }) => ({
        jsonrpc: '2.0',
        id,
        result: `0x${'00'.repeat(32)}`,
      }));
      response.end(JSON.stringify(answers.length === 1 ? answers[0] : answers));
      return;
    }
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(target, { method: 'POST', body, headers }).catch(() => null);
    if (answer === null) return void request.socket.destroy();
    const answered = await answer.text();
    if (mood === 'losing answers to broadcasts' && broadcasts) {
      return void request.socket.destroy();
    }
    const refused = refusalsOf(reply, node.refuse);
    response.writeHead(answer.status, headers).end(withRefusals(answered, refused));
  });
  const { url, close } = await listen(server);
  return Object.assign(node, { url, calls, watchers, stop: close });
}

function refusalsOf(
  requests: readonly NodeCall[],
  refuse: FaultyNode['refuse'],
): ReadonlyMap<number, string> {
  return new Map(
    requests.flatMap((call) => {
      const words = refuse(call);
      return words === null ? [] : [[call.id, words] as const];
    }),
  );
}

function withRefusals(answered: string, refused: ReadonlyMap<number, string>): string {
  if (refused.size === 0) return answered;
  const put = (answer: { id: number }) => {
    const message = refused.get(answer.id);
    if (message === undefined) return answer;
    return { jsonrpc: '2.0', id: answer.id, error: { code: -32_000, message } };
  };
  const parsed = JSON.parse(answered);
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(put) : put(parsed));
}
