import { plainFetch } from '#outgoing/plain-fetch.ts';
/** Calls a chain node: returns the method's result, or throws an error that names the method. */
export type RpcCall = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/**
 * Time limit of a request: a local node that takes longer is stuck. Dumping a large state takes 2
 * s.
 */
const ANSWER_MS = 15_000;

/**
 * Connects to a node over HTTP. viem's client is not used here: a dump of the whole state has tens
 * of megabytes, and viem's retries and chain checks would delay a start.
 */
export function connectRpc(url: string): RpcCall {
  return async (method, params = []) => {
    const response = await plainFetch(url, {
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
