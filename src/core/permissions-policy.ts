/** The browser features that our pages use, and those that no page of ours uses. */
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
 * Features that no page uses. Omits `bluetooth`, because a Chromium without it logs a warning in
 * the console of each page.
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

/** Returns the Permissions-Policy of a page that itself uses these features; frames get none. */
export function permissionsOf(features: readonly Feature[]): string {
  const own = FEATURES.map((name) => `${name}=${features.includes(name) ? '(self)' : '()'}`);
  return [...own, ...NEVER].join(', ');
}
