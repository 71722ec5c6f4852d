import { type Loop, startLoop } from '#core/background-loop.ts';

/**
 * Interval between probes. Real load balancers probe about once a second; tests cannot wait that
 * long.
 */
const ASK_EVERY_MS = 50;
const ANSWER_MS = 1_000;

async function isReady(node: string): Promise<boolean> {
  try {
    const answer = await fetch(`${node}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

export type Balancer = ReturnType<typeof startBalancer>;

/**
 * Starts a load balancer. It polls the readiness endpoint of each node and returns the ready nodes
 * in turn.
 * @param nodes the nodes' URLs without `/api`
 */
export function startBalancer(nodes: readonly string[]) {
  let ready: readonly string[] = nodes;
  let last = nodes[0] ?? '';
  let turn = 0;
  const loop: Loop = startLoop({
    name: 'balancer',
    pollMs: ASK_EVERY_MS,
    run: async () => {
      const answers = await Promise.all(nodes.map(isReady));
      ready = nodes.filter((_, index) => answers[index]);
      return false;
    },
    onError: () => {},
  });
  return {
    /** Returns the next ready node. If none is ready, returns the one that was ready last. */
    next: () => {
      last = ready[turn++ % ready.length] ?? last;
      return last;
    },
    /** Returns how many nodes are ready. */
    ready: () => ready.length,
    stop: loop.stop,
  };
}
