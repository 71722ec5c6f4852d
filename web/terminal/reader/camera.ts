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

/** The formats of the numbers under bars that shops sell by. */
const BARCODES = ['ean_13', 'ean_8', 'upc_a', 'itf'];

/** Like `readCamera`, for barcodes, which only the browser's own BarcodeDetector reads. */
export async function readBarcodes(
  video: HTMLVideoElement,
  events: CameraEvents,
  signal: AbortSignal,
): Promise<void> {
  const Own = detectorClass();
  const offered = (await Own?.getSupportedFormats?.().catch(() => [])) ?? [];
  if (signal.aborted) return;
  if (Own === null || !hasCamera() || !offered.includes('ean_13')) {
    return events.onProblem('no_barcodes');
  }
  const formats = BARCODES.filter((format) => offered.includes(format));
  const createDetector = async () => new Own({ formats });
  return readCodes(video, { ...events, createDetector }, signal);
}
