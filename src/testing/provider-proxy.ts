import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour, ProviderAnswer, ProviderCall } from '#testing/provider-behaviours.ts';

/** Somebody else's address in front of the test's chain. */
export interface ProviderProxy {
  readonly url: string;
  /** What it does from now on; null: all is well. */
  behaviour: Behaviour | null;
  /** Calls that reached it, each of a batch counted. */
  calls: number;
  stop(): Promise<void>;
}

export async function startProviderProxy(target: string): Promise<ProviderProxy> {
  const proxy = { behaviour: null as Behaviour | null, calls: 0 };
  const server = createServer(async (request, response) => {
    const parsed: unknown = JSON.parse(await text(request));
    const isBatch = Array.isArray(parsed);
    const calls = (isBatch ? parsed : [parsed]) as ProviderCall[];
    proxy.calls += calls.length;
    const { behaviour } = proxy;
    if (behaviour?.delayMs !== undefined) await sleep(behaviour.delayMs());
    const whole = behaviour?.whole?.(calls) ?? null;
    if (whole === 'cut') return void request.socket.destroy();
    if (whole !== null) {
      response.writeHead(whole.status, whole.headers).end(whole.body);
      return;
    }
    const answers = await answerAll(target, calls, behaviour).catch(() => null);
    if (answers === null) return void request.socket.destroy();
    send(response, isBatch ? answers.reverse() : answers[0], behaviour);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function answerAll(
  target: string,
  calls: readonly ProviderCall[],
  behaviour: Behaviour | null,
): Promise<ProviderAnswer[]> {
  const passed = calls.filter((call) => behaviour?.keeps?.(call) !== true);
  const real = new Map<unknown, ProviderAnswer>();
  if (passed.length > 0) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(passed) });
    for (const answer of (await response.json()) as ProviderAnswer[]) real.set(answer.id, answer);
  }
  return calls.flatMap((call) => {
    // Kept back and told to have been taken.
    const own = real.get(call.id) ?? { result: `0x${'00'.repeat(32)}` };
    const answer = behaviour?.answer === undefined ? own : behaviour.answer(call, own);
    return answer === undefined ? [] : [{ jsonrpc: '2.0', ...answer, id: call.id }];
  });
}

function send(response: ServerResponse, answer: unknown, behaviour: Behaviour | null): void {
  const body = JSON.stringify(answer ?? {});
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(behaviour?.text?.(body) ?? body);
}
