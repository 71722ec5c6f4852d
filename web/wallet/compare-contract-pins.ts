import type { ChainFacts } from './sign-permit-and-transfer.ts';

/** The contracts that a wallet signs for, and the differences between two versions of them. */

/**
 * The pinned facts. They do not include the node, which may change at any time, because no
 * signature depends on it.
 */
export type Pin = Omit<ChainFacts, 'rpcUrl'>;

export type PinnedField = 'chain' | 'token' | 'token name' | 'token version' | 'receiver' | 'fees';

/**
 * Returns the facts to compare, with their names. The receiver is the contract that may pull the
 * token.
 */
export function fieldsOf(pin: Pin): readonly (readonly [PinnedField, string])[] {
  return [
    ['chain', String(pin.chainId)],
    ['token', pin.usdc],
    ['token name', pin.usdcDomain.name],
    ['token version', pin.usdcDomain.version],
    ['receiver', pin.settlement],
  ];
}

/**
 * True if the fees rose. Lower fees are no reason to stop, and some responses name contracts
 * without fees.
 */
function isDearer({ feeRate: before }: Pin, { feeRate: now }: Pin): boolean {
  return before !== undefined && now !== undefined && now > before;
}

/** Returns the fields that differ, ignoring case. */
export function changedFields(before: Pin, now: Pin): readonly PinnedField[] {
  const told = new Map(fieldsOf(now));
  const others = fieldsOf(before)
    .filter(([field, value]) => told.get(field)?.toLowerCase() !== value.toLowerCase())
    .map(([field]) => field);
  return isDearer(before, now) ? [...others, 'fees'] : others;
}
