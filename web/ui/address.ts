import { t } from './text/t.ts';

/** For example `0x12ab…cdef`: both ends, which people compare. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** For example `ending in abcd`: enough to recognize a wallet, too little to type it from. */
export function endOfAddress(address: string): string {
  return t('ui.address_end', { end: address.slice(-4) });
}
