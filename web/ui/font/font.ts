import './font.css';
import address from './inter.woff2';

/**
 * The desks' font is no part of a page's first load: the first press fetches it, the screen behind
 * the sign-in shows it, and from then on each page finds it with the browser before it draws. So
 * it changes no text that somebody is reading. A page without TLS keeps the system's font:
 * browsers keep nothing for it.
 */
const KEPT = 'font';

let ready: FontFace | undefined;

/** For the moment when a whole screen changes. Does nothing while the font is on its way. */
export function showFont(): void {
  if (ready !== undefined) document.fonts.add(ready);
}

async function prepare(): Promise<void> {
  const kept = await caches.match(address);
  if (kept === undefined) throw new Error('the font is not here');
  ready = await new FontFace('Inter', await kept.arrayBuffer(), { weight: '400 700' }).load();
}

async function download(): Promise<void> {
  // That of an earlier release goes.
  await caches.delete(KEPT);
  await (await caches.open(KEPT)).add(address);
  await prepare();
}

function downloadOnce(): void {
  removeEventListener('pointerdown', downloadOnce);
  removeEventListener('keydown', downloadOnce);
  download().catch(() => undefined);
}

/** Done once the font is shown, or is not here: text that is drawn behind it does not move. */
export const fontLooked: Promise<void> = prepare().then(showFont, () => {
  addEventListener('pointerdown', downloadOnce);
  addEventListener('keydown', downloadOnce);
});
