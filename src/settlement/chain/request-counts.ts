import type { Reply } from '#settlement/chain/rpc-reply.ts';

/** Calls of one method to one address with one result, since the process started. */
export interface RequestCount {
  readonly method: string;
  /** Its place in the order of preference, from 0. The address itself may hold a key. */
  readonly index: number;
  /** `ok`, `refused` (by the chain), or why the address gave no answer. */
  readonly result: string;
  readonly count: number;
}

/** What providers charge for: each call of a batch counts. */
export function createCounts() {
  const counts = new Map<string, RequestCount>();
  let answeredAt = Number.NEGATIVE_INFINITY;
  return {
    answeredAt: () => answeredAt,
    note: (call: { readonly index: number; readonly method: string }, reply: Reply) => {
      const result = resultOf(reply);
      if (result === 'ok') answeredAt = performance.now();
      const key = `${call.index} ${call.method} ${result}`;
      counts.set(key, { ...call, result, count: (counts.get(key)?.count ?? 0) + 1 });
    },
    read: () => [...counts.values()],
  };
}

function resultOf(reply: Reply): string {
  if (reply.status === 'answered') return 'ok';
  return reply.status === 'refused' ? 'refused' : reply.fault.kind;
}
