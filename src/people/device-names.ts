import ipaddr from 'ipaddr.js';

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
];

function find(names: readonly (readonly [RegExp, string])[], text: string): string | null {
  return names.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/**
 * Returns a readable device name such as `Firefox on Windows`. The sender controls the User-Agent
 * and the name appears in mails, so it contains only words from our lists.
 */
export function deviceName(userAgent: string): string {
  const browser = find(BROWSERS, userAgent) ?? 'Unknown browser';
  const system = find(SYSTEMS, userAgent);
  return system === null ? browser : `${browser} on ${system}`;
}

/**
 * Returns the kind of network that an address belongs to, if the address shows it. Does not look up
 * a location, because most of the cities would be wrong.
 */
export function placeOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'Unknown place';
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback') return 'This machine';
  if (['private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(range)) {
    return `Local network, ${parsed.toString()}`;
  }
  return parsed.toString();
}
