import { fromRoot } from './root-path.ts';

/** Interval at which an open page asks for a newer version. */
const CHECK_EVERY_MS = 30 * 60_000;
/** Minimum interval between two checks, because a page may become visible often. */
const CHECKED_MS = 60_000;

/** The beginning of the worker that the service sends. The line ends with a semicolon. */
const SHELL = 'globalThis.SHELL=';

/** Returns the files of the version that the service has now, relative to its root. */
async function filesNow(app: string): Promise<readonly string[] | null> {
  const response = await fetch(fromRoot(`${app}/worker.js`), { cache: 'no-store' });
  const [line = ''] = (await response.text()).split('\n');
  if (!response.ok || !line.startsWith(SHELL)) return null;
  const { files } = JSON.parse(line.slice(SHELL.length, -1)) as { readonly files: string[] };
  return files;
}

/** Returns the built files that this page has loaded, relative to the service's root. */
function ownFiles(): readonly string[] {
  const root = fromRoot('.').href;
  const loaded = document.querySelectorAll('script[src], link[rel="stylesheet"]');
  return [...loaded]
    .map((one) => (one instanceof HTMLScriptElement ? one.src : (one as HTMLLinkElement).href))
    .filter((url) => url.startsWith(`${root}assets/`))
    .map((url) => url.slice(root.length));
}

/** True if the service has another version than the one that this page has loaded. */
async function isOutdated(app: string): Promise<boolean> {
  const files = await filesNow(app).catch(() => null);
  return files !== null && ownFiles().some((file) => !files.includes(file));
}

/**
 * Checks for a newer version now, every half an hour, and when the page becomes visible. Does not
 * rely on `controllerchange`, which some browsers do not fire in a page that has long been open.
 */
export function watchVersion(
  app: string,
  onNewVersion: () => void,
  kept: ServiceWorkerRegistration | undefined,
): void {
  let checkedAt = performance.now();
  const check = async () => {
    checkedAt = performance.now();
    // Lets the browser cache the newer version, so that it opens offline, too.
    await kept?.update().catch(() => {});
    if (await isOutdated(app)) onNewVersion();
  };
  void check();
  setInterval(check, CHECK_EVERY_MS);
  document.addEventListener('visibilitychange', () => {
    const isDue = performance.now() - checkedAt > CHECKED_MS;
    if (document.visibilityState === 'visible' && isDue) void check();
  });
}
