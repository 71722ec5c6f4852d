import type { ReactNode } from 'react';
import { shortAddress } from '../../ui/address.ts';
import { Identicon } from '../../ui/identicon.tsx';

/** Who paid: known again by a picture and both ends of the wallet's address. */
export function Customer({ wallet }: { readonly wallet: string }): ReactNode {
  return (
    <span className="customer" title={wallet} translate="no">
      <Identicon address={wallet} />
      <span className="id">{shortAddress(wallet)}</span>
    </span>
  );
}
