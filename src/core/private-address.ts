import ipaddr from 'ipaddr.js';

/** Types of address ranges that belong to this machine or to a private network. */
const OWN_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
]);

export function isOwnAddress(address: string): boolean {
  return ipaddr.isValid(address) && OWN_RANGES.has(ipaddr.process(address).range());
}
