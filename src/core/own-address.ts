import ipaddr from 'ipaddr.js';

/** Address ranges of this machine and of private networks. */
const OWN_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
]);

export function isOwnAddress(address: string): boolean {
  return ipaddr.isValid(address) && OWN_RANGES.has(ipaddr.process(address).range());
}
