/** Calls a chain node: returns the method's result, or throws an error that names the method. */
export type RpcCall = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** A local node without a response for this long is stuck; dumping a large state takes 2 s. */
const ANSWER_MS = 15_000;

/**
 * Calls over HTTP to the node at this address.
 * Written here instead of using viem's client, because a dump of the whole state is tens of
 * megabytes, and a start has no time for the retries and chain checks that a client library adds.
 */
export function connectRpc(url: string): RpcCall {
  return async (method, params = []) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const answer: unknown = await response.json();
    if (typeof answer === 'object' && answer !== null && 'result' in answer) return answer.result;
    throw new Error(`${method} at ${url} answered ${JSON.stringify(answer)}`);
  };
}
