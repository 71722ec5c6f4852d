import type { ReactNode } from 'react';
import { shortAddress } from '../../ui/address.ts';
import { Identicon } from '../../ui/identicon.tsx';

/**
 * Shows the payer's wallet, recognizable by a generated picture and by both ends of the address.
 */
export function Customer({ wallet }: { readonly wallet: string }): ReactNode {
  return (
    <span className="customer" title={wallet} translate="no">
      <Identicon address={wallet} />
      <span className="id">{shortAddress(wallet)}</span>
    </span>
  );
}
