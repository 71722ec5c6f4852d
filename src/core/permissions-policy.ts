/** What browsers can give pages of ours, and what no page of ours asks for. */
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
/** Without `bluetooth`: where a Chromium has none, it warns of it in the console of each page. */
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

/** The Permissions-Policy of a page that uses these features itself; no frame gets any. */
export function permissionsOf(features: readonly Feature[]): string {
  const own = FEATURES.map((name) => `${name}=${features.includes(name) ? '(self)' : '()'}`);
  return [...own, ...NEVER].join(', ');
}
