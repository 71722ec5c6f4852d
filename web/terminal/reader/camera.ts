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

/** Whether there may be a camera to ask: only a page that came safely has one. */
export function hasCamera(): boolean {
  return navigator.mediaDevices !== undefined;
}

/** The browser's own reader of codes; ours where it has none, or has one that reads no QR codes. */
async function createDetector(): Promise<BarcodeDetector> {
  const Own = detectorClass();
  const formats = (await Own?.getSupportedFormats?.().catch(() => [])) ?? ['qr_code'];
  if (Own !== null && formats.includes('qr_code')) return new Own({ formats: ['qr_code'] });
  const { QrDecoder } = await import('./qr-decoder.ts');
  return new QrDecoder();
}

/** Asks for the camera at the start of the shift: nobody is asked while a customer waits. */
export async function askForCamera(): Promise<void> {
  if (!hasCamera()) return;
  await openCamera().then(closeCamera, () => {});
}

/** Shows the camera in `video` and reads codes from it until the signal ends it. */
export function readCamera(
  video: HTMLVideoElement,
  events: CameraEvents,
  signal: AbortSignal,
): Promise<void> {
  return readCodes(video, { ...events, createDetector }, signal);
}
