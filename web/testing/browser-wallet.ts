import type { Page } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { rpc } from './payer.ts';

/** Injects a wallet that forwards requests to the real node, as wallets do. */
export async function passToNode(page: Page, sandbox: SandboxFile): Promise<void> {
  await page.exposeFunction('askNode', (method: string, params?: readonly unknown[]) =>
    rpc(sandbox, method, params),
  );
  await page.addInitScript(() => {
    type Ask = (method: string, params?: readonly unknown[]) => Promise<unknown>;
    const { askNode: ask } = window as unknown as { askNode: Ask };
    const request = (call: { method: string; params?: readonly unknown[] }) =>
      ask(call.method, call.params);
    Object.assign(window, { ethereum: { request } });
  });
}

export async function addressIn(page: Page): Promise<string> {
  const vault = await page.evaluate(() => localStorage.getItem('tapline.wallet.vault'));
  return (JSON.parse(vault ?? '') as { address: string }).address;
}

/** Gives an address 0.1 of the chain's native currency. */
export async function giveCoins(page: Page, sandbox: SandboxFile): Promise<void> {
  const coins = '0x16345785d8a0000';
  await rpc(sandbox, 'anvil_setBalance', [await addressIn(page), coins]);
}
