import type { Page } from 'playwright-core';
import { encode } from 'uqr';

interface Filmed {
  codes: boolean[][][];
  screen: ImageBitmap | null;
}

function rowsOf(text: string): boolean[][] {
  return encode(text, { ecc: 'M', border: 4 }).data;
}

type Filming = readonly [codes: boolean[][][], size: readonly [width: number, height: number]];

/** Runs in the page. */
export function installCamera([first, [width, height]]: Filming): void {
  Reflect.deleteProperty(window, 'BarcodeDetector');
  const filmed: Filmed = { codes: first, screen: null };
  const scale = width / 1280;
  const getUserMedia = async () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext('2d');
    const draw = () => {
      if (context === null) return;
      const { codes, screen } = filmed;
      context.resetTransform();
      context.fillStyle = '#ddd';
      context.fillRect(0, 0, width, height);
      context.fillStyle = '#111';
      // Draws the code slightly askew, as if held by hand.
      const [by, askew] = [0.98 * scale, 0.1 * scale];
      for (const [at, rows] of codes.entries()) {
        const left = codes.length === 1 ? 380 : 90 + at * 600;
        const side = (codes.length === 1 ? 600 : 520) / rows.length;
        context.setTransform(by, askew, -askew, by, left * scale, 20);
        for (const [y, row] of rows.entries()) {
          for (const [x, dark] of row.entries()) {
            if (dark) context.fillRect(x * side, y * side, side + 0.5, side + 0.5);
          }
        }
      }
      if (screen === null) return;
      // The whole height of the other device fills the picture.
      const zoom = (height / screen.height) * 0.95;
      context.setTransform(zoom, zoom / 20, -zoom / 20, zoom, width / 3, 0);
      context.drawImage(screen, 0, 0);
    };
    draw();
    setInterval(draw, 100);
    return canvas.captureStream(10);
  };
  Object.assign(window, { filmed });
  Object.defineProperty(navigator, 'mediaDevices', { value: { getUserMedia } });
}

/**
 * Adds a camera that films real QR codes. Removes the browser's built-in decoder, because Safari
 * and Firefox have none.
 */
export async function addFilmingCamera(
  page: Page,
  text: string | null = null,
  size: Filming[1] = [1280, 720],
): Promise<void> {
  await page.addInitScript(installCamera, [text === null ? [] : [rowsOf(text)], size] as Filming);
}

/** Shows QR codes of these texts to the camera, side by side. */
export async function film(page: Page, ...texts: readonly string[]): Promise<void> {
  await page.evaluate((codes) => {
    (window as unknown as { filmed: Filmed }).filmed.codes = codes;
  }, texts.map(rowsOf));
}

/** Shows the screen of another device to the camera. */
export async function filmScreen(page: Page, screenshot: Buffer): Promise<void> {
  await page.evaluate(
    async (bytes) => {
      const { filmed } = window as unknown as { filmed: Filmed };
      filmed.screen = await createImageBitmap(new Blob([Uint8Array.from(bytes)]));
    },
    [...screenshot],
  );
}
