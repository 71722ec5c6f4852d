import { type Loop, startLoop } from '#core/loop.ts';

/** Probes the nodes' readiness, as a load balancer does, and returns ready ones in turn. */
export interface Balancer {
  /** Returns the next ready node, or the last one that was ready if there is none. */
  next(): string;
  /** Returns how many nodes are ready. */
  ready(): number;
  stop(): Promise<void>;
}

/** Interval between probes. A real balancer probes about once a second; tests have less time. */
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

/** `nodes`: their addresses without `/api`. */
export function startBalancer(nodes: readonly string[]): Balancer {
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
    next: () => {
      last = ready[turn++ % ready.length] ?? last;
      return last;
    },
    ready: () => ready.length,
    stop: loop.stop,
  };
}
