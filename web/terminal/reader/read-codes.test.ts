import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BarcodeDetector, type CameraProblem, readCodes } from './read-codes.ts';

/** Replaces a camera's track, because Node has no camera. */
class Track extends EventTarget {
  readonly kind = 'video';
  stop(): void {}
}

const track = new Track();
let givePicture = () => {};
const video = {
  srcObject: null,
  play: () =>
    new Promise<void>((resolve) => {
      givePicture = resolve;
    }),
} as unknown as HTMLVideoElement;
const DEVICES = { getUserMedia: async () => ({ getTracks: () => [track] }) };

const { mediaDevices } = navigator;

before(() => Object.assign(navigator, { mediaDevices: DEVICES }));

after(() => Object.assign(navigator, { mediaDevices }));

/** Reads until the signal aborts. @returns the problems reported, in order. */
async function problemsOf(
  createDetector: () => Promise<BarcodeDetector>,
  then: (said: readonly CameraProblem[]) => unknown,
): Promise<CameraProblem[]> {
  const said: CameraProblem[] = [];
  const end = new AbortController();
  const onProblem = (problem: CameraProblem) => said.push(problem);
  const reading = readCodes(video, { onCode: () => {}, onProblem, createDetector }, end.signal);
  // Lets pending promises settle; the last one may wait for a picture.
  await new Promise((resolve) => setTimeout(resolve));
  await then(said);
  end.abort();
  givePicture();
  await reading;
  return said;
}

const detector = async () => ({ detect: async () => [] });

test('a camera that another app takes is reported, even before its first picture', async () => {
  const said = await problemsOf(detector, () => track.dispatchEvent(new Event('ended')));
  assert.deepEqual(said, ['stopped']);
});

test('a camera that stops while the decoder loads is reported at once, and once', async () => {
  for (const settle of [detector, () => Promise.reject(new Error('its file is gone'))]) {
    const loading = Promise.withResolvers<BarcodeDetector>();
    const said = await problemsOf(
      () => loading.promise,
      async (shown) => {
        track.dispatchEvent(new Event('ended'));
        assert.deepEqual(shown, ['stopped']);
        loading.resolve(settle());
        await new Promise((resolve) => setTimeout(resolve));
      },
    );
    assert.deepEqual(said, ['stopped']);
  }
});

test('a decoder that cannot be loaded is not blamed on the camera', async () => {
  const missing = () => Promise.reject(new Error('its file is gone'));
  assert.deepEqual(await problemsOf(missing, () => {}), ['no_decoder']);
});
