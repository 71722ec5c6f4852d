/**
 * Service worker of the installable apps. It caches the app itself, which then opens offline and
 * shows that it is offline. It never handles requests to `/api`. The server prepends a line that
 * defines `SHELL`.
 */
interface Shell {
  readonly app: string;
  /** Changes with every build. */
  readonly version: string;
  /** All URLs are relative to the service's root. */
  readonly page: string;
  readonly files: readonly string[];
  /** Language and direction of the notifications. */
  readonly reading: Pick<NotificationOptions, 'lang' | 'dir'>;
  readonly notices: Readonly<Record<NoticeName, Notice>>;
}

/**
 * Notifications: for a push, for a payment that an open window asks about, and for a tap that a
 * window noticed.
 */
type NoticeName = 'push' | 'ring' | 'paid';

interface Notice {
  readonly title: string;
  readonly body: string;
}

interface WorkerScope {
  readonly SHELL: Shell;
  readonly registration: {
    readonly scope: string;
    showNotification(title: string, options: NotificationOptions): Promise<void>;
    getNotifications(filter: { readonly tag: string }): Promise<readonly { close(): void }[]>;
  };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(filter: { readonly type: 'window' }): Promise<readonly OpenWindow[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void;
}

interface OpenWindow {
  readonly url: string;
  focus(): Promise<unknown>;
}

interface WorkerEvent {
  readonly request: Request;
  /** The notification of a `notificationclick` event. */
  readonly notification: { close(): void };
  /** A window's message: `ring` or `rung`. */
  readonly data: unknown;
  waitUntil(work: Promise<unknown>): void;
  respondWith(answer: Promise<Response>): void;
}

const scope = globalThis as unknown as WorkerScope;
const { app, version, page, files, reading, notices } = scope.SHELL;
const KEPT = `${app} ${version}`;
/** Time to wait for the network before the cached app is shown. */
const TIMEOUT_MS = 3_000;

const root = new URL('.', scope.registration.scope);
const pageUrl = new URL(page, root).href;

async function keep(): Promise<void> {
  const cache = await caches.open(KEPT);
  await cache.addAll([page, ...files].map((path) => new URL(path, root).href));
  await scope.skipWaiting();
}

/**
 * Number of earlier versions whose files stay cached. A page that has been open since then may
 * still load parts of its own version, which the service no longer has.
 */
const EARLIER_VERSIONS = 2;

async function dropOlder(): Promise<void> {
  // In the order in which they were created.
  const names = await caches.keys();
  const older = names.filter((name) => name.startsWith(`${app} `) && name !== KEPT);
  for (const name of older.slice(0, -EARLIER_VERSIONS)) await caches.delete(name);
  await scope.clients.claim();
}

/** Prefers the page from the network, because a cached one may name files that no longer exist. */
async function showPage(request: Request): Promise<Response> {
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(request, { signal: control.signal });
    if (response.ok) return response;
  } catch {
    // Falls back to the cached page.
  } finally {
    clearTimeout(timer);
  }
  return (await keptPage()) ?? Response.error();
}

const PAGE_HEADERS = ['Content-Type', 'Content-Security-Policy', 'Referrer-Policy'];

/** Returns the cached page. It serves every URL of the app, so its `<base>` is set for this URL. */
async function keptPage(): Promise<Response | null> {
  const kept = await (await caches.open(KEPT)).match(pageUrl);
  if (kept === undefined) return null;
  const html = await kept.text();
  const page = html.replace(/<base href="[^"]*">/, `<base href="${root.pathname}">`);
  const headers = PAGE_HEADERS.map((name) => [name, kept.headers.get(name) ?? '']);
  return new Response(page, { headers: Object.fromEntries(headers) });
}

/** Prefers this version's file. The names of parts differ between versions. */
async function showFile(request: Request): Promise<Response> {
  const own = await (await caches.open(KEPT)).match(request);
  return own ?? (await caches.match(request)) ?? fetch(request);
}

const RING = 'ring';

function show(name: NoticeName, options: NotificationOptions): Promise<void> {
  const { title, body } = notices[name];
  const icon = new URL('icons/tapline.svg', root).href;
  return scope.registration.showNotification(title, { body, icon, ...reading, ...options });
}

/**
 * Options of the notification that stays until it is answered. Each one makes a sound, and an
 * answer removes it.
 */
const UNTIL_ANSWERED = { tag: RING, requireInteraction: true };

async function endRing(): Promise<void> {
  for (const shown of await scope.registration.getNotifications({ tag: RING })) shown.close();
}

async function openApp(): Promise<void> {
  const windows = await scope.clients.matchAll({ type: 'window' });
  const own = windows.find(({ url }) => url.startsWith(pageUrl));
  if (own === undefined) await scope.clients.openWindow(pageUrl);
  else await own.focus();
}

scope.addEventListener('push', (event) => event.waitUntil(show('push', UNTIL_ANSWERED)));
scope.addEventListener('message', (event) => {
  if (event.data === 'ring') event.waitUntil(show('ring', UNTIL_ANSWERED));
  if (event.data === 'rung') event.waitUntil(endRing());
  if (event.data === 'paid') event.waitUntil(show('paid', { tag: 'paid' }));
});
scope.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openApp());
});
scope.addEventListener('install', (event) => event.waitUntil(keep()));
scope.addEventListener('activate', (event) => event.waitUntil(dropOlder()));
scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== root.origin) return;
  if (!url.pathname.startsWith(root.pathname)) return;
  const path = url.pathname.slice(root.pathname.length);
  if (path.startsWith('api/')) return;
  if (request.mode === 'navigate') event.respondWith(showPage(request));
  else if (files.includes(path) || path.startsWith('assets/')) {
    event.respondWith(showFile(request));
  }
});
