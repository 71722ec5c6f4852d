import type { ChainFacts } from './signing.ts';

/** What a wallet signs for, and how two of them differ. */

/** The node may change at any time: it is asked, and nothing is signed for it. */
export type Pin = Omit<ChainFacts, 'rpcUrl'>;

export type PinnedField = 'chain' | 'token' | 'token name' | 'token version' | 'receiver' | 'fees';

/** Names of the contracts, to compare. The receiver is the contract that may take the token. */
export function fieldsOf(pin: Pin): readonly (readonly [PinnedField, string])[] {
  return [
    ['chain', String(pin.chainId)],
    ['token', pin.usdc],
    ['token name', pin.usdcDomain.name],
    ['token version', pin.usdcDomain.version],
    ['receiver', pin.settlement],
  ];
}

/** Lower fees stop nobody, and not everything that names contracts names fees. */
function isDearer({ feeRate: before }: Pin, { feeRate: now }: Pin): boolean {
  return before !== undefined && now !== undefined && now > before;
}

/** Addresses are the same in any case; a name is not another one by its case alone either. */
export function changedFields(before: Pin, now: Pin): readonly PinnedField[] {
  const told = new Map(fieldsOf(now));
  const others = fieldsOf(before)
    .filter(([field, value]) => told.get(field)?.toLowerCase() !== value.toLowerCase())
    .map(([field]) => field);
  return isDearer(before, now) ? [...others, 'fees'] : others;
}
