import jsQR from 'jsqr';

/** QR decoder for browsers without one (Safari, Firefox); only they load it. */

/**
 * Longest side of the picture that is decoded: enough for a code that fills a third of it. A larger
 * one only drains the battery.
 */
const LONGEST_SIDE_PX = 640;

export class QrDecoder {
  readonly #canvas = document.createElement('canvas');

  async detect(video: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]> {
    const { videoWidth, videoHeight } = video;
    // The camera has not delivered a frame yet.
    if (videoWidth === 0 || videoHeight === 0) return [];
    const scale = Math.min(1, LONGEST_SIDE_PX / Math.max(videoWidth, videoHeight));
    const [width, height] = [Math.round(videoWidth * scale), Math.round(videoHeight * scale)];
    this.#canvas.width = width;
    this.#canvas.height = height;
    const context = this.#canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) return [];
    context.drawImage(video, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const found = jsQR(data, width, height, { inversionAttempts: 'attemptBoth' });
    return found === null || found.data === '' ? [] : [{ rawValue: found.data }];
  }
}
