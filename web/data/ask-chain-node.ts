/**
 * Calls a JSON-RPC method. Returns `undefined` if the node returned an error.
 * @throws if the node did not respond.
 */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** Connects to the node at this URL without sending a referrer or credentials. */
export function nodeAt(url: string): AskNode {
  return async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      referrerPolicy: 'no-referrer',
    });
    const { result } = (await response.json()) as { result?: unknown };
    return result;
  };
}
