import { type ReactNode, useMemo, useState } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import type { Vault } from '../key-vault.ts';
import { type ChainTruth, chainNode } from '../wallet-chain-node.ts';
import { useKept } from '../wallet-storage.ts';
import { PageLink } from './frame.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { ChainTruthPart } from './on-chain-state.tsx';
import { SignedEnd } from './revoke-by-own-transaction.tsx';

/**
 * Shows on-chain approvals for this network and revokes them. Works without a session and without
 * the service: the wallet stored the chain's data when it signed in.
 */
export function TakeBackPage({ vault }: { readonly vault: Vault }): ReactNode {
  const network = useKept('network');
  const chains = useKept('chains');
  const [truth, setTruth] = useState<ChainTruth | null>(null);
  const [sent, setSent] = useState(false);
  const chain = network === null ? undefined : chains[network];
  const node = useMemo(() => chainNode(chain), [chain]);
  return (
    <main className="sheet stack">
      <title>{t('wallet.end.page')}</title>
      <PageLink path="wallet/limits">{t('wallet.back_to_wallet')}</PageLink>
      <h1>{t('wallet.end.heading')}</h1>
      <p className="soft">{t('wallet.end.text')}</p>
      <NetworkSwitch vault={vault} />
      {chain === undefined ? (
        <Notice tone="warn">{t('wallet.end.unknown_network')}</Notice>
      ) : (
        <>
          <section className="card stack">
            <h2>{t('wallet.end.chain_heading')}</h2>
            <ChainTruthPart
              node={node}
              chain={chain}
              address={vault.address}
              truth={truth}
              onRead={setTruth}
            />
            {sent ? <p role="status">{t('wallet.end.ask_again')}</p> : null}
          </section>
          <section className="card stack">
            <h2>{t('wallet.end.sign_heading')}</h2>
            <SignedEnd
              key={truth === null ? 'unread' : 'read'}
              vault={vault}
              chain={chain}
              truth={truth}
              node={node}
              onSent={() => setSent(true)}
            />
          </section>
        </>
      )}
    </main>
  );
}
