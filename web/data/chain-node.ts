/** Asks a chain's node; undefined: it refused. @throws when it did not answer. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** The node at this address, which is told nothing of the page. */
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
