import { changeAnswers } from './network-faults.ts';
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

/** Makes the operator of each network issue pass files. */
export function issuesPassFiles(body: Json): Json {
  const pass_files = ['apple', 'google'];
  return { ...body, data: (body.data as object[]).map((one) => ({ ...one, pass_files })) };
}

/** Replaces responses of the service with realistic worst cases. */
export function answerWith(
  { page }: WalletWindow,
  path: string,
  change: (body: Json) => Json,
): Promise<void> {
  return changeAnswers(page, `**/api/payer/v1/${path}`, change);
}
