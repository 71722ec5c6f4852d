import { getAddress, isAddress } from 'viem';
import { StartError } from '#core/start-error.ts';
import type { Hex } from '#settlement/chain-requests.ts';

const ONE_CASE = /^0x(?:[0-9a-f]{40}|[0-9A-F]{40})$/;

/**
 * Returns the address with its checksum (EIP-55); `null` if it is not an address. If the letters
 * are in mixed case, the checksum must be right, which detects almost every typo.
 */
export function checksummed(text: string): Hex | null {
  if (ONE_CASE.test(text)) return getAddress(text.toLowerCase());
  return isAddress(text) ? text : null;
}

/** @throws StartError */
export function settingAddress(text: string, name: string): Hex {
  const address = checksummed(text);
  if (address !== null) return address;
  throw new StartError(
    `${name}: the checksum of ${text} is wrong: copy the address again, or write it in lower case`,
  );
}
