import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';

/** A wallet of the browser itself (EIP-1193), in front of the sandbox's own test chain. */

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

/** A browser wallet that passes every question to the real node, as they do. */
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

/** @returns the address of the wallet that this page keeps. */
export async function addressIn(page: Page): Promise<string> {
  const vault = await page.evaluate(() => localStorage.getItem('tapline.wallet.vault'));
  return (JSON.parse(vault ?? '') as { address: string }).address;
}

/** 0.1 of the chain's coin. */
export async function giveCoins(page: Page, sandbox: SandboxFile): Promise<void> {
  const coins = '0x16345785d8a0000';
  await askNode(sandbox, 'anvil_setBalance', [await addressIn(page), coins]);
}
