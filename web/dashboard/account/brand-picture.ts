/** The largest file that the service accepts. */
const MOST_BYTES = 100 * 1024;
const LEAST_SIDE = 16;
/** Side lengths in pixels, tried in order until the file is small enough. */
const SIDES = [512, 384, 256, 128] as const;

/** Scales the size to fit into a square, keeping the proportions and never enlarging. */
export function fitted(
  { width, height }: { readonly width: number; readonly height: number },
  side: number,
): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, side / Math.max(width, height));
  const of = (length: number) => Math.max(LEAST_SIDE, Math.round(length * scale));
  return { width: of(width), height: of(height) };
}

/**
 * Converts any picture that the browser can read into a small PNG. Metadata such as a camera's
 * location does not leave the device. @returns `null` if the file is not a picture or cannot be
 * made small enough.
 */
export async function toLogo(file: File): Promise<File | null> {
  const picture = await createImageBitmap(file).catch(() => null);
  if (picture === null) return null;
  for (const side of SIDES) {
    const canvas = Object.assign(document.createElement('canvas'), fitted(picture, side));
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const png = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    if (png !== null && png.size <= MOST_BYTES) {
      return new File([png], 'logo.png', { type: 'image/png' });
    }
  }
  return null;
}
