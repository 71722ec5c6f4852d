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
 * What people call a device: `Firefox on Windows`. Words of ours only: a User-Agent is written by
 * its sender, and these names go into mails.
 */
export function deviceName(userAgent: string): string {
  const browser = find(BROWSERS, userAgent) ?? 'Unknown browser';
  const system = find(SYSTEMS, userAgent);
  return system === null ? browser : `${browser} on ${system}`;
}

/**
 * Where an address is, as far as it says so by itself. Nothing is looked up: people know their own
 * networks by their addresses, and a guess at a city would be wrong for most of them.
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
