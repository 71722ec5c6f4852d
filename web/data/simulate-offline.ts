const { fetch } = globalThis;

/** True while this window acts as if it had no connection. A reload ends that. */
export function isSimulatedOffline(): boolean {
  return globalThis.fetch !== fetch;
}

/** Makes the browser report no connection, so that each request counts as not sent. */
export function simulateOffline(isOn: boolean): void {
  globalThis.fetch = isOn ? () => Promise.reject(new TypeError('simulated')) : fetch;
  if (isOn) Object.defineProperty(navigator, 'onLine', { get: () => false, configurable: true });
  else Reflect.deleteProperty(navigator, 'onLine');
  window.dispatchEvent(new Event(isOn ? 'offline' : 'online'));
}
