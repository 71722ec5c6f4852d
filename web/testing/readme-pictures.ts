import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { TestBrowser, TestWindow } from './browser.ts';
import type { Scene, Shot } from './shots.ts';
import { SURFACES } from './surfaces.ts';
import { addTestTerminal, intentsOf, openTill, postAsMerchant } from './till.ts';
import { readyWallet } from './wallet.ts';

/**
 * `npm run shots -- readme`: takes the pictures for README.md and the guides, in a shop with days
 * of sales (`shop-days.ts`), and writes them to docs/images.
 */
const OUT = path.join(import.meta.dirname, '../../docs/images');
/** Maximum size of all README pictures together, so that the page loads on a slow connection. */
const MOST_BYTES = 300_000;
const TABLET = { width: 1024, height: 700 };
const PHONE = { width: 390, height: 780 };
const DESK = { width: 1280, height: 800 };
/** Pause for late layout and animations. */
const SETTLE_MS = 400;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Takes a screenshot at this window size, scaled to this height. */
async function screenOf({ page }: TestWindow, size: Size, shownHeight: number): Promise<string> {
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.waitForTimeout(SETTLE_MS);
  const data = (await page.screenshot()).toString('base64');
  return `<img alt="" height="${shownHeight}" src="data:image/png;base64,${data}">`;
}

/** Places screenshots side by side on one background. */
async function compose(browser: TestBrowser, name: string, screens: readonly string[]) {
  const style = `body{margin:0;width:max-content;display:flex;gap:24px;padding:20px;
    align-items:center;background:#e9ebef}img{border-radius:10px;box-shadow:0 2px 10px #0003}`;
  const window = await browser.open({ viewport: { width: 1400, height: 900 } });
  await window.page.setContent(`<!doctype html><style>${style}</style>${screens.join('')}`);
  await window.page.locator('body').screenshot({ path: path.join(OUT, `${name}.png`) });
  await window.close();
}

/** Takes a picture of one sale from both sides: the terminal beside the wallet that paid. */
async function takeSale({ browser, sandbox }: Scene): Promise<void> {
  const { wallet, pass } = await readyWallet(browser, sandbox);
  const terminal = await addTestTerminal(sandbox, 'Window');
  const till = await openTill(browser, sandbox, { terminal });
  await till.ask('12.80');
  const [intent] = await intentsOf(sandbox, terminal);
  await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal.id}/tap`, {
    payment_intent: intent?.id,
    credential: { type: 'nfc_id', value: pass },
  });
  await till.result('Paid').waitFor();
  await wallet.goTo('History');
  await wallet.sees('12.8');
  const shown = 440;
  await compose(browser, 'sale', [
    await screenOf(till, TABLET, shown),
    await screenOf(wallet, PHONE, shown),
  ]);
  await wallet.close();
  await till.close();
}

function surface(name: string): Shot {
  const shot = SURFACES.find((one) => one.name === name);
  if (shot === undefined) throw new Error(`no surface ${name}`);
  return shot;
}

async function takeSurface(scene: Scene, name: string, size: Size): Promise<void> {
  const window = await surface(name).show(scene);
  await compose(scene.browser, name, [await screenOf(window, size, 360)]);
  await window.close();
}

/**
 * Takes the pictures of the README and the guides.
 * @throws if the README's pictures exceed their limit.
 */
export async function takeReadmePictures(scene: Scene): Promise<void> {
  await mkdir(OUT, { recursive: true });
  await takeSale(scene);
  await takeSurface(scene, 'till', TABLET);
  await takeSurface(scene, 'wallet', PHONE);
  await takeSurface(scene, 'dashboard', DESK);
  await takeSurface(scene, 'operator', DESK);
  await takeSurface(scene, 'till-history', TABLET);
  let bytes = 0;
  for (const name of ['sale', 'till', 'wallet', 'dashboard', 'operator']) {
    bytes += (await stat(path.join(OUT, `${name}.png`))).size;
  }
  if (bytes > MOST_BYTES) throw new Error(`the pictures of the README have ${bytes} bytes`);
}
