import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BarcodeDetector, type CameraProblem, readCodes } from './read-codes.ts';

/** Replaces a camera's track, because Node has no camera. */
class Track extends EventTarget {
  readonly kind = 'video';
  torch: boolean | null = null;
  getCapabilities = () => ({ torch: true });
  applyConstraints = async ({ advanced: [one] }: { advanced: { torch: boolean }[] }) => {
    this.torch = one?.torch ?? null;
  };
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
const requests: MediaStreamConstraints[] = [];
const DEVICES = {
  getUserMedia: async (wish: MediaStreamConstraints) => {
    requests.push(wish);
    return { getTracks: () => [track] };
  },
};

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

test('a track that stays muted is opened again, one that is muted briefly is not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const muted = async (forMs: number) => {
    const said: CameraProblem[] = [];
    const end = new AbortController();
    const onProblem = (problem: CameraProblem) => said.push(problem);
    const events = { onCode: () => {}, onProblem, createDetector: detector };
    const reading = readCodes(video, events, end.signal);
    await new Promise((resolve) => setImmediate(resolve));
    track.dispatchEvent(new Event('mute'));
    t.mock.timers.tick(forMs);
    track.dispatchEvent(new Event('unmute'));
    t.mock.timers.tick(10_000);
    end.abort();
    givePicture();
    await reading;
    return said;
  };
  assert.deepEqual(await muted(500), []);
  assert.deepEqual(await muted(3_000), ['muted']);
});

test('the camera is asked for 1280 pixels, and its light can be switched', async () => {
  requests.length = 0;
  const end = new AbortController();
  const { promise, resolve } = Promise.withResolvers<(isOn: boolean) => void>();
  const events = { onCode: () => {}, onProblem: () => {}, createDetector: detector };
  const reading = readCodes(video, { ...events, onLight: resolve }, end.signal);
  const light = await promise;
  light(true);
  assert.equal(track.torch, true);
  light(false);
  assert.equal(track.torch, false);
  const wish = requests[0]?.video as MediaTrackConstraints;
  assert.deepEqual([wish.facingMode, wish.width], ['environment', { ideal: 1280 }]);
  end.abort();
  givePicture();
  await reading;
});

test('of two codes in a picture, the one that the dialog can use is read', async () => {
  const end = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const both = async () => ({
    detect: async () => [{ rawValue: 'https://shop.example' }, { rawValue: 'ours' }],
  });
  const isOwn = (text: string) => text === 'ours';
  const events = { onCode: resolve, onProblem: () => {}, isOwn, createDetector: both };
  const reading = readCodes(video, events, end.signal);
  assert.equal(await promise, 'ours');
  end.abort();
  givePicture();
  await reading;
});
