/** `ending in abcd`: enough to recognise a wallet, and nothing to type off. */
export function endOfAddress(address: string): string {
  return `ending in ${address.slice(-4)}`;
}
