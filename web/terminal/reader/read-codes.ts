/**
 * The reason why the camera reads no codes: no permission or device, no decoder, or its track
 * ended.
 */
export type CameraProblem = 'refused' | 'no_decoder' | 'stopped';

/** The part of the Barcode Detection API that the till uses. */
export interface BarcodeDetector {
  detect(image: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}

/**
 * Interval between reads: short enough for a hand that holds still, long enough to spare a phone's
 * battery.
 */
const LOOK_EVERY_MS = 200;

export function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
}

export function closeCamera(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

export interface CameraEvents {
  readonly onCode: (text: string) => void;
  /** Called when no more codes can be read. Opening the camera again may help. */
  readonly onProblem: (problem: CameraProblem) => void;
}

export interface CodeReader extends CameraEvents {
  readonly createDetector: () => Promise<BarcodeDetector>;
}

/** Shows the camera in `video` and reads codes from it until the signal aborts. */
export async function readCodes(
  video: HTMLVideoElement,
  { onCode, onProblem, createDetector }: CodeReader,
  signal: AbortSignal,
): Promise<void> {
  const stream = await openCamera().catch(() => null);
  if (stream === null) return signal.aborted ? undefined : onProblem('refused');
  const done = new AbortController();
  const end = () => {
    done.abort();
    closeCamera(stream);
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) return end();
  const fail = (problem: CameraProblem) => {
    if (done.signal.aborted) return;
    end();
    onProblem(problem);
  };
  // A track ends when another app takes the camera, when it is unplugged, or when its permission is
  // revoked. This may happen while the decoder loads.
  for (const track of stream.getTracks()) track.addEventListener('ended', () => fail('stopped'));
  const detector = await createDetector().catch(() => null);
  if (detector === null) return fail('no_decoder');
  if (done.signal.aborted) return;
  const timer = setInterval(async () => {
    const [found] = await detector.detect(video).catch(() => []);
    if (found !== undefined && !done.signal.aborted) onCode(found.rawValue);
  }, LOOK_EVERY_MS);
  done.signal.addEventListener('abort', () => clearInterval(timer));
  video.srcObject = stream;
  // This may wait forever for a first frame. It rejects if the dialog is closed first.
  await video.play().catch(() => {});
}
