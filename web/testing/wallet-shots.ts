import type { Scene, Shot } from './shots.ts';
import { createWallet, openWallet, type WalletWindow } from './wallet.ts';

interface Stage extends Scene {
  readonly wallet: WalletWindow;
}

/** Takes a screenshot of a browser with a signed-in wallet. */
export function walletShot(name: string, lead: (stage: Stage) => Promise<void>): Shot {
  return {
    name,
    show: async (scene) => {
      const wallet = await openWallet(scene.browser, scene.sandbox);
      await createWallet(wallet);
      await lead({ ...scene, wallet });
      return wallet;
    },
  };
}

/** Takes a screenshot of a browser without a wallet. */
export function visitorShot(name: string, lead: (wallet: WalletWindow) => Promise<void>): Shot {
  return {
    name,
    show: async ({ browser, sandbox }) => {
      const wallet = await openWallet(browser, sandbox);
      await wallet.button(/^Create wallet/).waitFor();
      await lead(wallet);
      return wallet;
    },
  };
}

export type Json = Record<string, unknown>;

/** Replaces responses of the service with realistic worst cases. */
export async function answerWith(
  { page }: WalletWindow,
  path: string,
  change: (body: Json) => Json,
): Promise<void> {
  await page.route(`**/api/payer/v1/${path}`, async (route) => {
    try {
      const response = await route.fetch();
      await route.fulfill({ response, json: change((await response.json()) as Json) });
    } catch {
      // The window was closed while a long poll was in flight.
    }
  });
}
