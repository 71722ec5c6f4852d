import { fromRoot } from './root-path.ts';

/** The watch for newer versions starts later, so that its code does not delay the first load. */
const WATCH_AFTER_MS = 60_000;

/**
 * Caches the app on the device. Reports when there is a newer version; it applies from the next
 * load, at a time that the user chooses.
 */
export async function keepApp(app: string, onNewVersion: () => void): Promise<void> {
  // Service workers are missing without https, and in private windows of some browsers. The app
  // then works, but cannot open offline. Not a module: Firefox before 147 has no module workers.
  const kept = await navigator.serviceWorker
    ?.register(fromRoot(`${app}/worker.js`), { scope: fromRoot(app).href })
    .catch(() => undefined);
  setTimeout(() => {
    import('./watch-version.ts').then(
      ({ watchVersion }) => watchVersion(app, onNewVersion, kept),
      () => {},
    );
  }, WATCH_AFTER_MS);
}
