import { type ReactNode, useMemo, useState } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { type ChainTruth, chainNode } from '../chain.ts';
import { useKept } from '../kept.ts';
import type { Vault } from '../vault.ts';
import { ChainTruthPart } from './chain-truth.tsx';
import { PageLink } from './frame.tsx';
import { NetworkSwitch } from './network-switch.tsx';
import { SignedEnd } from './signed-end.tsx';

/**
 * What this network may take, asked of the chain itself, and its end. Works without a session and
 * without the service: what it needs to know of the chain was kept when the wallet signed in.
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
      <title>End the permission · Tapline</title>
      <PageLink path="wallet/limits">Back to the wallet</PageLink>
      <h1>Without this service</h1>
      <p className="soft">
        You can always end what you have allowed: it is a transaction from your own wallet, and no
        server has to agree.
      </p>
      <NetworkSwitch vault={vault} />
      {chain === undefined ? (
        <Notice tone="warn">
          This browser has not signed in on this network yet, so it does not know its contracts.
        </Notice>
      ) : (
        <>
          <section className="card stack">
            <h2>What the chain says</h2>
            <ChainTruthPart
              node={node}
              chain={chain}
              address={vault.address}
              truth={truth}
              onRead={setTruth}
            />
            {sent ? <p role="status">Ask the chain again in a few seconds.</p> : null}
          </section>
          <section className="card stack">
            <h2>End the permission</h2>
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
