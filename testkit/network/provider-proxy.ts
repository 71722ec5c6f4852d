import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { keccak256 } from 'viem';
import type { ProviderAnswer, ProviderCall } from '#testkit/network/back-ends.ts';
import { answerSeenAt, asSeenAt } from '#testkit/network/back-ends.ts';
import { listen } from '#testkit/network/listen.ts';
import type { Behavior } from '#testkit/network/provider-behaviors.ts';

/** A third-party provider in front of the test's chain. */
export type ProviderProxy = Awaited<ReturnType<typeof startProviderProxy>>;

export async function startProviderProxy(target: string) {
  const proxy = {
    /** The current misbehavior; `null` if there is none. */
    behavior: null as Behavior | null,
    /** The number of calls received. Each call in a batch counts. */
    calls: 0,
    /** Functions that are called for each call received. */
    watchers: new Set<(call: ProviderCall) => void>(),
  };
  const held: HeldBroadcast[] = [];
  const releasing = setInterval(() => release(target, held), RELEASE_MS);
  const server = createServer(async (request, response) => {
    // Accepts only POST, because this provider offers no subscriptions.
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const parsed: unknown = JSON.parse(await text(request));
    const isBatch = Array.isArray(parsed);
    const calls = (isBatch ? parsed : [parsed]) as ProviderCall[];
    proxy.calls += calls.length;
    for (const call of calls) for (const watch of proxy.watchers) watch(call);
    const { behavior } = proxy;
    if (behavior?.delayMs !== undefined) await sleep(behavior.delayMs());
    const whole = behavior?.whole?.(calls) ?? null;
    if (whole !== null) return sendWhole(response, whole);
    const answers = await answerAll({ target, held }, calls, behavior).catch(() => null);
    if (answers === null) return void request.socket.destroy();
    send(response, isBatch ? answers.reverse() : answers[0], behavior);
  });
  const { url, close } = await listen(server);
  return Object.assign(proxy, {
    url,
    stop: () => {
      clearInterval(releasing);
      return close();
    },
  });
}

/** A broadcast that the proxy is holding back from the chain. */
interface HeldBroadcast {
  readonly call: ProviderCall;
  readonly fromBlock: bigint;
}

const RELEASE_MS = 20;

async function release(target: string, held: HeldBroadcast[]): Promise<void> {
  if (held.length === 0) return;
  const head = await headOf(target).catch(() => -1n);
  const due = held.filter((one) => one.fromBlock <= head);
  for (const one of due) held.splice(held.indexOf(one), 1);
  if (due.length > 0)
    await ask(
      target,
      due.map(({ call }) => call),
    ).catch(() => {});
}

async function ask(
  target: string,
  calls: readonly ProviderCall[],
): Promise<Map<unknown, ProviderAnswer>> {
  if (calls.length === 0) return new Map();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call })));
  const response = await fetch(target, { method: 'POST', headers, body });
  const answers = (await response.json()) as ProviderAnswer[];
  return new Map(answers.map((answer) => [answer.id, answer]));
}

async function headOf(target: string): Promise<bigint> {
  const answers = await ask(target, [{ id: 0, method: 'eth_blockNumber', params: [] }]);
  return BigInt(answers.get(0)?.result as string);
}

interface RealNode {
  readonly target: string;
  readonly held: HeldBroadcast[];
}

async function answerAll(
  { target, held }: RealNode,
  calls: readonly ProviderCall[],
  behavior: Behavior | null,
): Promise<ProviderAnswer[]> {
  const head = behavior === null ? 0n : await headOf(target);
  const { holdsBlocks } = behavior ?? {};
  const isHeld = (call: ProviderCall) =>
    holdsBlocks !== undefined && call.method === 'eth_sendRawTransaction';
  if (holdsBlocks !== undefined) {
    const fromBlock = head + holdsBlocks;
    const taken = calls.filter(isHeld);
    held.push(...taken.map((call) => ({ call, fromBlock })));
  }
  const seen = calls.map((call) => behavior?.sees?.(call, head) ?? null);
  const passed = calls.flatMap((call, at) => {
    if (isHeld(call) || behavior?.keeps?.(call) === true) return [];
    const block = seen[at] ?? null;
    return [block === null ? call : asSeenAt(call, block)];
  });
  const real = await ask(target, passed);
  return calls.flatMap((call, at) => {
    const block = seen[at] ?? null;
    const told = real.get(call.id) ?? takenAnswer(call, isHeld(call));
    const own = block === null ? told : answerSeenAt(call, told, block);
    const answer = behavior?.answer === undefined ? own : behavior.answer(call, own, head);
    return answer === undefined ? [] : [{ jsonrpc: '2.0', ...answer, id: call.id }];
  });
}

/**
 * Returns the response to a broadcast that was not forwarded: its hash if the proxy holds it back,
 * or a wrong hash if the proxy drops it.
 */
function takenAnswer({ params }: ProviderCall, isHeld: boolean): ProviderAnswer {
  return { result: isHeld ? keccak256(params[0] as `0x${string}`) : `0x${'00'.repeat(32)}` };
}

function sendWhole(
  response: ServerResponse,
  whole: Exclude<ReturnType<NonNullable<Behavior['whole']>>, null>,
): void {
  if (whole === 'silent') return;
  if (whole === 'cut') return void response.socket?.destroy();
  if (whole === 'half-closed') {
    response.writeHead(200, { 'content-length': '1000' }).write('[{"jsonrpc"');
    return void response.socket?.end();
  }
  response.writeHead(whole.status, whole.headers).end(whole.body);
}

function send(response: ServerResponse, answer: unknown, behavior: Behavior | null): void {
  const body = JSON.stringify(answer ?? {});
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(behavior?.text?.(body) ?? body);
}
