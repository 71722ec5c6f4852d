import { t } from './text/t.ts';

/** Shortens an address, for example `0x12ab…cdef`, to both ends, which people compare. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/**
 * Formats the end of an address, for example `ending in abcd`: enough to recognize a wallet, too
 * little to retype it.
 */
export function endOfAddress(address: string): string {
  return t('ui.address_end', { end: address.slice(-4) });
}
