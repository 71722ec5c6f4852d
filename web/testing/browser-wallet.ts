import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';

/**
 * Calls the node of the sandbox's test chain.
 * @throws AssertionError if the node returned an error.
 */
export async function askNode(
  sandbox: SandboxFile,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  const response = await fetch(sandbox.test.rpc_url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  assert.equal(error, undefined);
  return result;
}

/** Injects a wallet that forwards requests to the real node, as wallets do. */
export async function passToNode(page: Page, sandbox: SandboxFile): Promise<void> {
  await page.exposeFunction('askNode', (method: string, params?: readonly unknown[]) =>
    askNode(sandbox, method, params),
  );
  await page.addInitScript(() => {
    type Ask = (method: string, params?: readonly unknown[]) => Promise<unknown>;
    const { askNode: ask } = window as unknown as { askNode: Ask };
    const request = (call: { method: string; params?: readonly unknown[] }) =>
      ask(call.method, call.params);
    Object.assign(window, { ethereum: { request } });
  });
}

/** Returns the address of the wallet stored in this page's browser. */
export async function addressIn(page: Page): Promise<string> {
  const vault = await page.evaluate(() => localStorage.getItem('tapline.wallet.vault'));
  return (JSON.parse(vault ?? '') as { address: string }).address;
}

/** Gives an address 0.1 of the chain's native currency. */
export async function giveCoins(page: Page, sandbox: SandboxFile): Promise<void> {
  const coins = '0x16345785d8a0000';
  await askNode(sandbox, 'anvil_setBalance', [await addressIn(page), coins]);
}
