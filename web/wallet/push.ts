/** What this browser shows beside its windows, and Web Push: rings while the wallet is closed. */

/** Not in every browser, and on iPhones only where the wallet is on the home screen. */
export function canRing(): boolean {
  return 'serviceWorker' in navigator && 'Notification' in window;
}

/** Whether it can get notifications while the wallet is closed. */
export function canPush(): boolean {
  return canRing() && 'PushManager' in window;
}

/** Whether the browser was told already, one way or the other. */
export function mayRing(): NotificationPermission {
  return canRing() ? Notification.permission : 'denied';
}

/** Asks the person. Call it from a click: browsers ask nobody else. @returns whether it may. */
export async function askToRing(): Promise<boolean> {
  return (await Notification.requestPermission()) === 'granted';
}

/** Shows the ring of this device, or ends it: the worker has its words, as for Web Push. */
export async function ringDevice(rings: boolean): Promise<void> {
  if (mayRing() !== 'granted') return;
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage(rings ? 'ring' : 'rung');
}

/** Shows that a static pass was tapped: its owner may not have been there. */
export async function tellOfPass(): Promise<void> {
  if (mayRing() !== 'granted') return;
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage('paid');
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** Asks the browser's push service. @returns the address that rings this browser. */
export async function subscribe(publicKey: string): Promise<string> {
  const { pushManager } = await navigator.serviceWorker.ready;
  // One for an earlier key of the service would stand in the way.
  await (await pushManager.getSubscription())?.unsubscribe();
  const applicationServerKey = bytesOf(publicKey);
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  return made.endpoint;
}

/** The browser's subscription; null: it has none, or the person ended it. */
export async function subscribedAt(): Promise<string | null> {
  const { pushManager } = await navigator.serviceWorker.ready;
  return (await pushManager.getSubscription())?.endpoint ?? null;
}

export async function unsubscribe(): Promise<void> {
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
}
