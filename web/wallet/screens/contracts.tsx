import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { type TextKey, t, textLocale } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { changedFields, fieldsOf, type Pin, type PinnedField } from '../compare-contract-pins.ts';
import { builtIn, pinOf, trustReported } from '../pinned-contracts.ts';
import { formatRate } from '../wallet-status.ts';
import { type Network, useKept } from '../wallet-storage.ts';
import { AgreedDialog } from './agreed-dialog.tsx';
import { PageLink } from './frame.tsx';

const NAMES: Readonly<Record<Network, TextKey>> = {
  testnet: 'wallet.contracts.network.testnet',
  mainnet: 'wallet.contracts.network.mainnet',
};

const FIELD_WORDS: Readonly<Record<PinnedField, TextKey>> = {
  chain: 'wallet.contracts.fact.chain',
  token: 'wallet.contracts.fact.token',
  'token name': 'wallet.contracts.fact.token_name',
  'token version': 'wallet.contracts.fact.token_version',
  receiver: 'wallet.contracts.fact.receiver',
  fees: 'wallet.contracts.fact.fees',
};

function ContractFacts({ pin }: { readonly pin: Pin }): ReactNode {
  const fees = pin.feeRate === undefined ? [] : [['fees', formatRate(pin.feeRate)] as const];
  return (
    <Facts
      facts={[...fieldsOf(pin), ...fees].map(([field, value]) => [
        t(FIELD_WORDS[field]),
        <span key={field} className="id">
          {value}
        </span>,
      ])}
    />
  );
}

function TrustSheet(props: { readonly network: Network; readonly onClose: () => void }): ReactNode {
  const trust = () => {
    trustReported(props.network);
    props.onClose();
  };
  return (
    <AgreedDialog
      title={t('wallet.contracts.trust.heading')}
      agree={t('wallet.contracts.trust.compared')}
      act={t('wallet.contracts.trust.button')}
      keep={t('wallet.contracts.trust.keep_button')}
      onAct={trust}
      onClose={props.onClose}
    >
      <p>{t('wallet.contracts.trust.text')}</p>
    </AgreedDialog>
  );
}

/**
 * True if the user may accept the change. Contracts in the build change only with a new build. But
 * if the build names no fees, the user may accept new ones.
 */
function canTrust(network: Network, known: Pin, told: Pin): boolean {
  const built = builtIn(network);
  if (built === null) return true;
  return built.feeRate === undefined && changedFields(known, told).every((one) => one === 'fees');
}

/** Shows the contracts that the service names instead, and the user's options. */
function Change(props: {
  readonly network: Network;
  readonly known: Pin;
  readonly told: Pin;
}): ReactNode {
  const { network, known, told } = props;
  const [trusting, setTrusting] = useState(false);
  const changed = changedFields(known, told).map((field) => t(FIELD_WORDS[field]));
  const list = new Intl.ListFormat(textLocale(), { type: 'unit' });
  return (
    <>
      <Notice tone="bad" role="alert">
        {t('wallet.contracts.changed.text', { facts: list.format(changed) })}
      </Notice>
      <h3>{t('wallet.contracts.changed.heading')}</h3>
      <ContractFacts pin={told} />
      {canTrust(network, known, told) ? (
        <div className="row">
          <Button kind="danger" onClick={() => setTrusting(true)}>
            {t('wallet.contracts.trust.button')}
          </Button>
        </div>
      ) : (
        <p className="soft">{t('wallet.contracts.changed.pinned')}</p>
      )}
      {trusting ? <TrustSheet network={network} onClose={() => setTrusting(false)} /> : null}
    </>
  );
}

function alonePage({ chainId, settlement }: Pin): string {
  return `contract#${new URLSearchParams({ chain: String(chainId), settlement })}`;
}

function NetworkContracts({ network }: { readonly network: Network }): ReactNode {
  // Re-renders when the stored data behind `pinOf` changes.
  useKept('chains');
  const others = useKept('otherContracts');
  const known = pinOf(network);
  const told = others[network];
  if (known === null) return null;
  return (
    <section className="card stack">
      <h2>{t(NAMES[network])}</h2>
      {told === undefined ? null : <h3>{t('wallet.contracts.known.heading')}</h3>}
      <ContractFacts pin={known} />
      <p className="soft">
        {rich('wallet.contracts.alone', {
          page: (text) => <a href={alonePage(known)}>{text}</a>,
          file: (text) => <a href="contract.html">{text}</a>,
        })}
      </p>
      <Former network={network} />
      {told === undefined ? null : <Change network={network} known={known} told={told} />}
    </section>
  );
}

/** Lists previous contracts. Shops that have not moved yet can still use the approvals for them. */
function Former({ network }: { readonly network: Network }): ReactNode {
  const former = useKept('formerContracts')[network] ?? [];
  return former.map((pin) => (
    <p key={pin.settlement} className="soft">
      {rich(
        'wallet.contracts.former',
        { page: (text) => <a href={alonePage(pin)}>{text}</a> },
        { contract: pin.settlement },
      )}
    </p>
  ));
}

/**
 * Shows the contracts that this browser signs for. Works without the service and without a session.
 */
export function ContractsPage(): ReactNode {
  const chains = useKept('chains');
  const isEmpty = Object.keys(chains).length === 0;
  return (
    <main className="sheet stack">
      <title>{t('wallet.contracts.page')}</title>
      <PageLink path="wallet">{t('wallet.back_to_wallet')}</PageLink>
      <h1>{t('wallet.contracts.heading')}</h1>
      <p className="soft">{t('wallet.contracts.about')}</p>
      {isEmpty ? (
        <EmptyState title={t('wallet.contracts.empty.heading')}>
          {t('wallet.contracts.empty.text')}
        </EmptyState>
      ) : (
        (['testnet', 'mainnet'] as const).map((network) => (
          <NetworkContracts key={network} network={network} />
        ))
      )}
      <PageLink path="wallet/take-back">{t('wallet.end.link')}</PageLink>
    </main>
  );
}
