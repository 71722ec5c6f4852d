import { getAddress, isAddress } from 'viem';
import { StartError } from '#core/start-error.ts';
import type { Hex } from '#settlement/requests.ts';

const ONE_CASE = /^0x(?:[0-9a-f]{40}|[0-9A-F]{40})$/;

/**
 * The address with its checksum (EIP-55). It may be given in one case; in mixed case the checksum
 * must be right, which a mistyped digit almost never is. `null` for anything else.
 */
export function checksummed(text: string): Hex | null {
  if (ONE_CASE.test(text)) return getAddress(text.toLowerCase());
  return isAddress(text) ? text : null;
}

/** The address in a setting. @throws StartError */
export function settingAddress(text: string, name: string): Hex {
  const address = checksummed(text);
  if (address !== null) return address;
  throw new StartError(
    `${name}: the checksum of ${text} is wrong: copy the address again, or write it in lower case`,
  );
}
