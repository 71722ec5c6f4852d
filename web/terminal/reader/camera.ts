import type { CameraProblem } from '../words.ts';

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

export interface CameraEvents {
  readonly onCode: (text: string) => void;
  /** No more codes are read; another {@link readCamera} may help. */
  readonly onProblem: (problem: CameraProblem) => void;
}

/** Shows the camera in `video` and reads codes from it until the signal ends it. */
export async function readCamera(
  video: HTMLVideoElement,
  { onCode, onProblem }: CameraEvents,
  signal: AbortSignal,
): Promise<void> {
  const stream = await openCamera().catch(() => null);
  if (stream === null) return signal.aborted ? undefined : onProblem('refused');
  const end = () => closeCamera(stream);
  signal.addEventListener('abort', end);
  if (signal.aborted) return end();
  const detector = await createDetector().catch(() => null);
  if (signal.aborted) return;
  if (detector === null) {
    end();
    return onProblem('no_decoder');
  }
  video.srcObject = stream;
  // Refused where the dialog was closed meanwhile.
  await video.play().catch(() => {});
  const timer = setInterval(async () => {
    const [found] = await detector.detect(video).catch(() => []);
    if (found !== undefined && !signal.aborted) onCode(found.rawValue);
  }, LOOK_EVERY_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
  const stopped = () => {
    clearInterval(timer);
    if (!signal.aborted) onProblem('stopped');
  };
  // Another app took the camera, it was unplugged, or its permission was withdrawn.
  for (const track of stream.getTracks()) track.addEventListener('ended', stopped);
}
