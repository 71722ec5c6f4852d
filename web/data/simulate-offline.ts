const KEY = 'tapline.offline';

/** True while this window acts as if it had no connection: no request leaves it. */
export function isSimulatedOffline(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

export function simulateOffline(isOn: boolean): void {
  if (isOn) sessionStorage.setItem(KEY, '1');
  else sessionStorage.removeItem(KEY);
  // As a browser does when its connection changes, so that the till checks it at once.
  window.dispatchEvent(new Event(isOn ? 'offline' : 'online'));
}
