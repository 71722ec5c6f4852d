import { t } from './text/t.ts';

/** `0x12ab…cdef`: both ends, as they are compared. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** `ending in abcd`: enough to recognize a wallet, and nothing to type off. */
export function endOfAddress(address: string): string {
  return t('ui.address_end', { end: address.slice(-4) });
}
