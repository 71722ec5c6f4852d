/**
 * The reason why the camera reads no codes: no permission or device, no decoder, no barcodes in
 * this browser, or its track ended. `muted`: the browser delivers no pictures, as after a sleep;
 * opening the camera again helps.
 */
export type CameraProblem = 'refused' | 'no_decoder' | 'no_barcodes' | 'stopped' | 'muted';

export interface BarcodeDetector {
  detect(image: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}

/**
 * Interval between reads: short enough for a hand that holds still, long enough to spare a phone's
 * battery.
 */
const LOOK_EVERY_MS = 200;

/** Time for which a track may be muted. Browsers mute it briefly, for example during a rotation. */
const MUTED_MS = 2_000;

/** A long code needs more pixels than the 640 × 480 that browsers choose by themselves. */
const PICTURE = { width: { ideal: 1280 }, height: { ideal: 720 } } as const;

export function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', ...PICTURE } });
}

/** Switches the camera's light. */
export type Light = (isOn: boolean) => void;

/** Returns the switch of the camera's light; `null` if it has none. */
function lightOf([track]: readonly MediaStreamTrack[]): Light | null {
  // TypeScript does not know `torch` yet.
  const capabilities = track?.getCapabilities?.() as { readonly torch?: boolean } | undefined;
  if (track === undefined || capabilities?.torch !== true) return null;
  return (torch) => {
    const advanced = [{ torch } as MediaTrackConstraintSet];
    void track.applyConstraints({ advanced }).catch(() => {});
  };
}

export function closeCamera(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

export interface CameraEvents {
  readonly onCode: (text: string) => void;
  /** Called when no more codes can be read. Opening the camera again may help. */
  readonly onProblem: (problem: CameraProblem) => void;
  /** Called if the camera has a light. */
  readonly onLight?: (light: Light) => void;
  /** True for codes that the dialog can use. Of several codes in a picture, such a one is read. */
  readonly isOwn?: (text: string) => boolean;
}

export interface CodeReader extends CameraEvents {
  readonly createDetector: () => Promise<BarcodeDetector>;
}

/** Shows the camera in `video` and reads codes from it until the signal aborts. */
export async function readCodes(
  video: HTMLVideoElement,
  { onCode, onProblem, onLight, isOwn, createDetector }: CodeReader,
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
  for (const track of stream.getTracks()) {
    track.addEventListener('ended', () => fail('stopped'));
    let timer: ReturnType<typeof setTimeout> | undefined;
    track.addEventListener('mute', () => {
      timer = setTimeout(() => fail('muted'), MUTED_MS);
    });
    track.addEventListener('unmute', () => clearTimeout(timer));
  }
  const detector = await createDetector().catch(() => null);
  if (detector === null) return fail('no_decoder');
  if (done.signal.aborted) return;
  const timer = setInterval(async () => {
    const all = await detector.detect(video).catch(() => []);
    const match = all.find(({ rawValue }) => isOwn?.(rawValue)) ?? all[0];
    if (match !== undefined && !done.signal.aborted) onCode(match.rawValue);
  }, LOOK_EVERY_MS);
  done.signal.addEventListener('abort', () => clearInterval(timer));
  video.srcObject = stream;
  const light = lightOf(stream.getTracks());
  if (light !== null) onLight?.(light);
  // This may wait forever for a first frame. It rejects if the dialog is closed first.
  await video.play().catch(() => {});
}
