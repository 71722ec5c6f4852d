/** Notifications of this browser, and Web Push, which notifies while the wallet is closed. */

/** False in some browsers, and on iPhones unless the wallet is on the home screen. */
export function canRing(): boolean {
  return 'serviceWorker' in navigator && 'Notification' in window;
}

/** True if the browser can show notifications while the wallet is closed. */
export function canPush(): boolean {
  return canRing() && 'PushManager' in window;
}

/** Returns the browser's notification permission. */
export function mayRing(): NotificationPermission {
  return canRing() ? Notification.permission : 'denied';
}

/** Asks the user for permission. Must be called from a click. @returns true if it was granted. */
export async function askToRing(): Promise<boolean> {
  return (await Notification.requestPermission()) === 'granted';
}

/**
 * Shows or removes the notification of a confirmation. The service worker supplies the texts, as
 * for Web Push.
 */
export async function ringDevice(rings: boolean): Promise<void> {
  if (mayRing() !== 'granted') return;
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage(rings ? 'ring' : 'rung');
}

/** Notifies the owner that a static pass was tapped, because another person may have used it. */
export async function notifyOfPass(): Promise<void> {
  if (mayRing() !== 'granted') return;
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage('paid');
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** Subscribes at the browser's push service. @returns the endpoint URL of the subscription. */
export async function subscribe(publicKey: string): Promise<string> {
  const { pushManager } = await navigator.serviceWorker.ready;
  // A subscription for an earlier key of the service would make the new subscription fail.
  await (await pushManager.getSubscription())?.unsubscribe();
  const applicationServerKey = bytesOf(publicKey);
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  return made.endpoint;
}

/**
 * Returns the endpoint of the browser's subscription; `null` if there is none or the user has ended
 * it.
 */
export async function subscribedAt(): Promise<string | null> {
  const { pushManager } = await navigator.serviceWorker.ready;
  return (await pushManager.getSubscription())?.endpoint ?? null;
}

export async function unsubscribe(): Promise<void> {
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
}
