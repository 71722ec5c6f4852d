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
 * Returns a readable name of a device: `Firefox on Windows`. It contains only our own words,
 * because a User-Agent is written by its sender, and these names appear in mails.
 */
export function deviceName(userAgent: string): string {
  const browser = find(BROWSERS, userAgent) ?? 'Unknown browser';
  const system = find(SYSTEMS, userAgent);
  return system === null ? browser : `${browser} on ${system}`;
}

/**
 * The kind of network of an address, as far as the address itself shows it. Nothing is looked up:
 * people know their own addresses, and a guessed city would be wrong for most of them.
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
