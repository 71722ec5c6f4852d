import type { Page } from 'playwright-core';
import { encode } from 'uqr';

function rowsOf(text: string | null): boolean[][] {
  return text === null ? [] : encode(text, { ecc: 'M', border: 4 }).data;
}

/**
 * Adds a camera that films real QR codes. Removes the browser's built-in decoder, because Safari
 * and Firefox have none.
 */
export async function addFilmingCamera(
  page: Page,
  text: string | null = null,
  /** Size of the pictures. */
  size: readonly [number, number] = [1280, 720],
): Promise<void> {
  const filming = [rowsOf(text), size] as const;
  await page.addInitScript(([first, [width, height]]) => {
    Reflect.deleteProperty(window, 'BarcodeDetector');
    const filmed = { rows: first };
    const scale = width / 1280;
    const getUserMedia = async () => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext('2d');
      const draw = () => {
        if (context === null) return;
        const { rows } = filmed;
        const side = 600 / rows.length;
        context.resetTransform();
        context.fillStyle = '#ddd';
        context.fillRect(0, 0, width, height);
        context.fillStyle = '#111';
        // Draws the code slightly askew, as if held by hand.
        const [by, askew, left] = [0.98 * scale, 0.1 * scale, 380 * scale];
        context.setTransform(by, askew, -askew, by, left, 20);
        for (const [y, row] of rows.entries()) {
          for (const [x, dark] of row.entries()) {
            if (dark) context.fillRect(x * side, y * side, side + 0.5, side + 0.5);
          }
        }
      };
      draw();
      setInterval(draw, 100);
      return canvas.captureStream(10);
    };
    Object.assign(window, { filmed });
    Object.defineProperty(navigator, 'mediaDevices', { value: { getUserMedia } });
  }, filming);
}

/** Shows a QR code of this text to the camera. */
export async function film(page: Page, text: string): Promise<void> {
  await page.evaluate((rows) => {
    const { filmed } = window as unknown as { filmed: { rows: boolean[][] } };
    filmed.rows = rows;
  }, rowsOf(text));
}
