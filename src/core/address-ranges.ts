import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * An address or CIDR range in its normal form, or the ones that a refused entry could mean, in
 * full.
 */
export type ReadRange = { readonly range: string } | { readonly meant: readonly string[] };

/** Returns the address that fills up a short one with zeros on the right. */
function filledUp(address: string): string | null {
  const parts = address.split('.');
  if (parts.length > 4 || !parts.every((part) => /^\d{1,4}$/.test(part))) return null;
  const numbers = Array.from({ length: 4 }, (_, n) => Number(parts[n] ?? 0));
  return numbers.every((number) => number < 256) ? numbers.join('.') : null;
}

/** Returns the address as `inet_aton` reads it: `10.1` is 10.0.0.1, `010.0.0.1` is 8.0.0.1. */
function classic(address: string): string | null {
  return ipaddr.IPv4.isValid(address) ? ipaddr.IPv4.parse(address).toString() : null;
}

function isWidth(bits: string, address: string): boolean {
  return /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (isIP(address) === 6 ? 128 : 32);
}

/**
 * Reads an address or CIDR range. Programs disagree about short, octal and hexadecimal forms of
 * IPv4 addresses, so these are refused.
 */
export function readRange(entry: string): ReadRange {
  const [address = '', bits, ...more] = entry.split('/');
  if (more.length > 0 || (bits !== undefined && !isWidth(bits, address))) return { meant: [] };
  const suffix = bits === undefined ? '' : `/${bits}`;
  if (isIP(address) !== 0) {
    const normal = bits === undefined ? ipaddr.process(address) : ipaddr.parse(address);
    return { range: `${normal.toString()}${suffix}` };
  }
  const isShortRange = bits !== undefined && address.split('.').length < 4;
  const filled = filledUp(address);
  const readings = isShortRange && filled !== null ? [filled] : [classic(address), filled];
  const full = readings.filter((reading) => reading !== null).map((one) => `${one}${suffix}`);
  return { meant: [...new Set(full)] };
}

/** Returns why an entry is refused, as the end of a sentence whose subject is the entry. */
export function whyRefused(meant: readonly string[]): string {
  if (meant.length === 0) return 'is neither an address nor a CIDR range';
  return `is not a full address or CIDR range: write ${meant.join(' or ')}`;
}
