import type { Page } from 'playwright-core';

export interface Camera {
  /** The code in view, or empty. */
  code: string;
  /** Number of times that the page opened the camera; `running` counts its open tracks. */
  asked: number;
  running: number;
}

type Seen = readonly [code: string, formats: readonly string[]];

/**
 * Adds a camera with a BarcodeDetector to Chromium, which has none. `showCode` sets the code in
 * view.
 */
export async function addCamera(
  page: Page,
  code = '',
  formats: readonly string[] = ['qr_code'],
): Promise<void> {
  const seen: Seen = [code, formats];
  await page.addInitScript(([first, offered]) => {
    const camera: Camera = { code: first, asked: 0, running: 0 };
    class BarcodeDetector {
      static getSupportedFormats = async () => offered;
      detect = async () => (camera.code === '' ? [] : [{ rawValue: camera.code }]);
    }
    const getUserMedia = async () => {
      camera.asked++;
      camera.running++;
      const canvas = document.createElement('canvas');
      canvas.getContext('2d')?.fillRect(0, 0, 8, 8);
      const stream = canvas.captureStream();
      for (const track of stream.getTracks()) {
        const stop = track.stop.bind(track);
        track.stop = () => {
          camera.running--;
          stop();
        };
      }
      return stream;
    };
    Object.assign(window, { BarcodeDetector, camera });
    Object.defineProperty(navigator, 'mediaDevices', { value: { getUserMedia } });
  }, seen);
}

export function cameraOf(page: Page): Promise<Camera> {
  return page.evaluate(() => (window as unknown as { camera: Camera }).camera);
}

export async function showCode(page: Page, code: string): Promise<void> {
  await page.evaluate((seen) => {
    (window as unknown as { camera: Camera }).camera.code = seen;
  }, code);
}
