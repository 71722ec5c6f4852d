import jsQR from 'jsqr';

/** QR decoder for browsers without one (Safari, Firefox); only they load it. */

/**
 * Longest side of the picture that is decoded: enough for a code that fills a third of it. A larger
 * one only drains the battery.
 */
const LONGEST_SIDE_PX = 640;

/** The most codes that are read from one picture. */
const MOST_CODES = 3;

type Part = readonly [start: number, length: number];

/**
 * Parts of the picture along its longer side. jsQR looks for one code: with two codes of one size
 * it may combine the corners of both, and find neither. One of these parts shows one code alone.
 */
const PARTS: readonly Part[] = [
  [0, 0.5],
  [0.4, 0.6],
  [0, 0.7],
  [0.5, 0.5],
  [0, 0.6],
  [0.3, 0.7],
];

export class QrDecoder {
  readonly #canvas = document.createElement('canvas');
  /** Pictures since the last one with a code. */
  #missed = 0;

  /** Reads a picture as a whole or, every second time, one of its parts, which takes less time. */
  async detect(video: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]> {
    const part = this.#missed % 2 === 0 ? null : PARTS[(this.#missed >> 1) % PARTS.length];
    let text = this.#read(video, part ?? [0, 1]);
    // The first part with a code may be that of a foreign one.
    if (part && text.length > 0) text = PARTS.flatMap((one) => this.#read(video, one));
    this.#missed = text.length === 0 ? this.#missed + 1 : 0;
    return text.map((rawValue) => ({ rawValue }));
  }

  #read(video: HTMLVideoElement, [start, length]: Part): string[] {
    const { videoWidth, videoHeight } = video;
    const isWide = videoWidth > videoHeight;
    const [left, top] = isWide ? [start * videoWidth, 0] : [0, start * videoHeight];
    const seenWidth = isWide ? length * videoWidth : videoWidth;
    const seenHeight = isWide ? videoHeight : length * videoHeight;
    const scale = Math.min(1, LONGEST_SIDE_PX / Math.max(seenWidth, seenHeight));
    const [width, height] = [Math.round(seenWidth * scale), Math.round(seenHeight * scale)];
    const context = this.#canvas.getContext('2d', { willReadFrequently: true });
    // The camera may not have delivered a frame yet.
    if (context === null || width === 0 || height === 0) return [];
    this.#canvas.width = width;
    this.#canvas.height = height;
    context.drawImage(video, left, top, seenWidth, seenHeight, 0, 0, width, height);
    const texts: string[] = [];
    while (texts.length < MOST_CODES) {
      const { data } = context.getImageData(0, 0, width, height);
      const code = jsQR(data, width, height, { inversionAttempts: 'attemptBoth' });
      if (code === null) break;
      texts.push(code.data);
      // Covers the code, so that the next one is found.
      const { topLeftCorner, topRightCorner, bottomRightCorner, bottomLeftCorner } = code.location;
      context.fillStyle = '#fff';
      context.beginPath();
      for (const { x, y } of [topLeftCorner, topRightCorner, bottomRightCorner, bottomLeftCorner]) {
        context.lineTo(x, y);
      }
      context.fill();
    }
    return texts.filter((text) => text !== '');
  }
}
