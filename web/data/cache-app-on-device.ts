import { fromRoot } from './root-path.ts';

/**
 * Caches the app on the device. Reports when a newer version is cached; it applies from the next
 * load, at a time that the user chooses.
 */
export async function keepApp(app: string, onNewVersion: () => void): Promise<void> {
  // Service workers are missing without https, and in private windows of some browsers.
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
    // Without caching the app still works, but cannot open offline.
  }
}
