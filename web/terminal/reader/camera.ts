/** The Barcode Detection API, as far as it is used here. */
interface BarcodeDetector {
  detect(image: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}

type DetectorClass = new (options: { readonly formats: readonly string[] }) => BarcodeDetector;

/** Often enough for a hand that holds still, rarely enough for a phone's battery. */
const LOOK_EVERY_MS = 200;

function detectorClass(): DetectorClass | null {
  return 'BarcodeDetector' in window ? (window.BarcodeDetector as DetectorClass) : null;
}

/** Whether this browser reads codes and has a camera to ask. */
export function hasCamera(): boolean {
  return detectorClass() !== null && navigator.mediaDevices !== undefined;
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
  const Detector = detectorClass();
  if (Detector === null) return;
  const stream = await openCamera();
  if (signal.aborted) return closeCamera(stream);
  const detector = new Detector({ formats: ['qr_code'] });
  video.srcObject = stream;
  await video.play();
  const timer = setInterval(async () => {
    const [found] = await detector.detect(video).catch(() => []);
    if (found !== undefined && !signal.aborted) onCode(found.rawValue);
  }, LOOK_EVERY_MS);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    closeCamera(stream);
  });
}
