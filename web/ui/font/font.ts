import './font.css';
import address from './inter.woff2';

/**
 * The font is not part of a page's first load. The first click fetches it, the screen after sign-in
 * shows it, and later pages read it from the browser's cache before they render, so that text never
 * changes while someone reads it. Pages without TLS keep the system font, because browsers cache
 * nothing for them.
 */
const KEPT = 'font';

let ready: FontFace | undefined;

/** Activates the font if it has loaded. Call it when the whole screen changes. */
export function showFont(): void {
  if (ready !== undefined) document.fonts.add(ready);
}

async function prepare(): Promise<void> {
  const kept = await caches.match(address);
  if (kept === undefined) throw new Error('the font is not here');
  ready = await new FontFace('Inter', await kept.arrayBuffer(), { weight: '400 700' }).load();
}

async function download(): Promise<void> {
  // Deletes the font of an earlier release.
  await caches.delete(KEPT);
  await (await caches.open(KEPT)).add(address);
  await prepare();
}

function downloadOnce(): void {
  removeEventListener('pointerdown', downloadOnce);
  removeEventListener('keydown', downloadOnce);
  download().catch(() => undefined);
}

/**
 * Resolves when the font is active or known to be missing, so that text rendered afterwards does
 * not shift.
 */
export const fontLooked: Promise<void> = prepare().then(showFont, () => {
  addEventListener('pointerdown', downloadOnce);
  addEventListener('keydown', downloadOnce);
});
