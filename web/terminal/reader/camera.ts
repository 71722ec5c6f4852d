import {
  type BarcodeDetector,
  type CameraEvents,
  closeCamera,
  openCamera,
  readCodes,
} from './read-codes.ts';

interface DetectorClass {
  new (options: { readonly formats: readonly string[] }): BarcodeDetector;
  getSupportedFormats?(): Promise<readonly string[]>;
}

function detectorClass(): DetectorClass | null {
  return 'BarcodeDetector' in window ? (window.BarcodeDetector as DetectorClass) : null;
}

/** True if the page may request a camera, which only secure pages can. */
export function hasCamera(): boolean {
  return navigator.mediaDevices !== undefined;
}

/**
 * Creates the browser's BarcodeDetector, or this app's own if the browser has none that reads QR
 * codes.
 */
async function createDetector(): Promise<BarcodeDetector> {
  const Own = detectorClass();
  const formats = (await Own?.getSupportedFormats?.().catch(() => [])) ?? ['qr_code'];
  if (Own !== null && formats.includes('qr_code')) return new Own({ formats: ['qr_code'] });
  const { QrDecoder } = await import('./qr-decoder.ts');
  return new QrDecoder();
}

/**
 * Asks for camera permission at the start of the shift, so that no prompt appears while a customer
 * waits.
 */
export async function askForCamera(): Promise<void> {
  if (!hasCamera()) return;
  await openCamera().then(closeCamera, () => {});
}

/** Shows the camera in `video` and reads codes from it until the signal aborts. */
export function readCamera(
  video: HTMLVideoElement,
  events: CameraEvents,
  signal: AbortSignal,
): Promise<void> {
  return readCodes(video, { ...events, createDetector }, signal);
}
