import { fromRoot } from '../data/root.ts';

/**
 * Keeps the app on the device. Tells when a newer version has been kept: it is used from the next
 * load on, at a moment that the person chooses.
 */
export async function keepApp(app: string, onNewVersion: () => void): Promise<void> {
  // Without https, and in private windows of some browsers, there is none.
  if (!('serviceWorker' in navigator)) return;
  const hadOne = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (hadOne) onNewVersion();
  });
  try {
    await navigator.serviceWorker.register(fromRoot(`${app}/worker.js`), {
      scope: fromRoot(app).href,
      type: 'module',
    });
  } catch {
    // The app works without: it only does not open while there is no network.
  }
}
