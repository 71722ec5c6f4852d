import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { changedFields, fieldsOf, type Pin, type PinnedField } from '../contracts.ts';
import { type Network, useKept } from '../kept.ts';
import { builtIn, pinOf, trustTold } from '../pins.ts';
import { PageLink } from './frame.tsx';

const NAMES: Readonly<Record<Network, string>> = {
  testnet: 'Test network',
  mainnet: 'Main network',
};

const FIELD_WORDS: Readonly<Record<PinnedField, string>> = {
  chain: 'Chain',
  token: 'Token',
  'token name': 'Token name',
  'token version': 'Token version',
  receiver: 'Can take payments',
  fees: 'Fees on top',
};

function ContractFacts({ pin }: { readonly pin: Pin }): ReactNode {
  return (
    <Facts
      facts={fieldsOf(pin).map(([field, value]) => [
        FIELD_WORDS[field],
        <span key={field} className="id">
          {value}
        </span>,
      ])}
    />
  );
}

function TrustSheet(props: { readonly network: Network; readonly onClose: () => void }): ReactNode {
  const [agreed, setAgreed] = useState(false);
  const [missing, setMissing] = useState(false);
  const trust = () => {
    if (!agreed) return setMissing(true);
    trustTold(props.network);
    props.onClose();
  };
  return (
    <Dialog title="Trust the new contracts?" onClose={props.onClose}>
      <p>
        These contracts may take what you allow from then on. A compromised service would name an
        attacker’s contract.
      </p>
      <Choice
        type="checkbox"
        name="compared"
        value="yes"
        label="I have compared each address with what the operator has published elsewhere"
        checked={agreed}
        onChange={setAgreed}
      />
      {missing && !agreed ? (
        <Notice tone="bad" role="alert">
          Tick the box first.
        </Notice>
      ) : null}
      <Button kind="danger" large onClick={trust}>
        Trust the new contracts
      </Button>
      <Button kind="quiet" onClick={props.onClose}>
        Keep the known contracts
      </Button>
    </Dialog>
  );
}

/** What the build has named, only another build changes; where it names no fees, a person may. */
function canTrust(network: Network, known: Pin, told: Pin): boolean {
  const built = builtIn(network);
  if (built === null) return true;
  return built.feeRate === undefined && changedFields(known, told).every((one) => one === 'fees');
}

/** What the service names instead, and what one can do about it. */
function Change(props: {
  readonly network: Network;
  readonly known: Pin;
  readonly told: Pin;
}): ReactNode {
  const { network, known, told } = props;
  const [trusting, setTrusting] = useState(false);
  const changed = changedFields(known, told).map((field) => FIELD_WORDS[field]);
  return (
    <>
      <Notice tone="bad" role="alert">
        The service now names something different ({changed.join(', ')}). Nothing was signed for it,
        and your money has not moved. If the operator has not announced this, stop here: end what
        you have allowed, and tell the operator.
      </Notice>
      <h3>Named now</h3>
      <ContractFacts pin={told} />
      {canTrust(network, known, told) ? (
        <div className="row">
          <Button kind="danger" onClick={() => setTrusting(true)}>
            Trust the new contracts
          </Button>
        </div>
      ) : (
        <p className="soft">This version of the app signs only for the known contracts.</p>
      )}
      {trusting ? <TrustSheet network={network} onClose={() => setTrusting(false)} /> : null}
    </>
  );
}

function alonePage({ chainId, settlement }: Pin): string {
  return `contract#${new URLSearchParams({ chain: String(chainId), settlement })}`;
}

function NetworkContracts({ network }: { readonly network: Network }): ReactNode {
  // What `pinOf` reads.
  useKept('chains');
  const others = useKept('otherContracts');
  const known = pinOf(network);
  const told = others[network];
  if (known === null) return null;
  return (
    <section className="card stack">
      <h2>{NAMES[network]}</h2>
      {told === undefined ? null : <h3>Known to this browser</h3>}
      <ContractFacts pin={known} />
      <p className="soft">
        With chain and receiver your browser’s wallet ends the permission{' '}
        <a href={alonePage(known)}>without this service</a>. Keep{' '}
        <a href="contract.html">that page as a file</a>.
      </p>
      <Former network={network} />
      {told === undefined ? null : <Change network={network} known={known} told={told} />}
    </section>
  );
}

/** Contracts of before: shops that have not moved still take what was allowed there. */
function Former({ network }: { readonly network: Network }): ReactNode {
  const former = useKept('formerContracts')[network] ?? [];
  return former.map((pin) => (
    <p key={pin.settlement} className="soft">
      Before, this wallet signed for <span className="id">{pin.settlement}</span>. What you allowed
      there holds until <a href={alonePage(pin)}>you end it there</a>.
    </p>
  ));
}

/** Which contracts this browser signs for. Asks nobody, and needs no session. */
export function ContractsPage(): ReactNode {
  const chains = useKept('chains');
  const isEmpty = Object.keys(chains).length === 0;
  return (
    <main className="sheet stack">
      <title>Contracts · Tapline</title>
      <PageLink path="wallet">Back to the wallet</PageLink>
      <h1>Contracts</h1>
      <p className="soft">
        This browser signs only for the contracts below, as they were when it first used them.
      </p>
      {isEmpty ? (
        <EmptyState title="None yet">
          They are saved when this browser first signs in or pays.
        </EmptyState>
      ) : (
        (['testnet', 'mainnet'] as const).map((network) => (
          <NetworkContracts key={network} network={network} />
        ))
      )}
      <PageLink path="wallet/take-back">Ask the chain, or end the permission there</PageLink>
    </main>
  );
}
