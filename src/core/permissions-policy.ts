/** The browser features that at least one of our pages uses. */
export type Feature =
  | 'camera'
  | 'publickey-credentials-create'
  | 'publickey-credentials-get'
  | 'screen-wake-lock'
  | 'serial';
const FEATURES: readonly Feature[] = [
  'camera',
  'publickey-credentials-create',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
];
/**
 * Features that no page uses. `bluetooth` is left out, because a Chromium without it logs a warning
 * in the console of each page.
 */
const NEVER = [
  'accelerometer=()',
  'browsing-topics=()',
  'display-capture=()',
  'geolocation=()',
  'gyroscope=()',
  'hid=()',
  'idle-detection=()',
  'local-fonts=()',
  'magnetometer=()',
  'microphone=()',
  'midi=()',
  'payment=()',
  'usb=()',
  'xr-spatial-tracking=()',
];

/**
 * Returns the Permissions-Policy of a page that uses these features. Frames in the page may use
 * none.
 */
export function permissionsOf(features: readonly Feature[]): string {
  const own = FEATURES.map((name) => `${name}=${features.includes(name) ? '(self)' : '()'}`);
  return [...own, ...NEVER].join(', ');
}
