/** The Barcode Detection API, as far as it is used here. */
interface BarcodeDetector {
  detect(image: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}

interface DetectorClass {
  new (options: { readonly formats: readonly string[] }): BarcodeDetector;
  getSupportedFormats?(): Promise<readonly string[]>;
}

/** Often enough for a hand that holds still, rarely enough for a phone's battery. */
const LOOK_EVERY_MS = 200;

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

function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
}

function closeCamera(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

/** Asks for the camera at the start of the shift: nobody is asked while a customer waits. */
export async function askForCamera(): Promise<void> {
  if (!hasCamera()) return;
  await openCamera().then(closeCamera, () => {});
}

/**
 * Shows the camera in `video` and reads codes from it until the signal ends it.
 *
 * @throws DOMException when there is no camera, or no permission.
 */
export async function readCamera(
  video: HTMLVideoElement,
  onCode: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const stream = await openCamera();
  signal.addEventListener('abort', () => closeCamera(stream));
  if (signal.aborted) return closeCamera(stream);
  const detector = await createDetector();
  if (signal.aborted) return;
  video.srcObject = stream;
  await video.play();
  const timer = setInterval(async () => {
    const [found] = await detector.detect(video).catch(() => []);
    if (found !== undefined && !signal.aborted) onCode(found.rawValue);
  }, LOOK_EVERY_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
}
