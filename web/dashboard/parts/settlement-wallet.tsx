import { type ReactNode, useState } from 'react';
import type { ReadSettlementWalletResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { ConsentDialog } from './consent.tsx';

/** Where withdrawals go, and a change that is under way. */
export function SettlementWallet(): ReactNode {
  const { call, may } = useMerchant();
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useRead('GET /accounts/{account}/{mode}/settlement_wallet');
  if (data === undefined || data.wallet === null) return null;
  const { wallet, contract, former_contracts: former, change } = data;
  const isChanging = change?.status === 'pending' || change?.status === 'announced';
  const close = () => setIsOpen(false);
  return (
    <section className="card stack">
      <h2>Settlement wallet</h2>
      <CopyField label="Wallet" value={wallet} />
      {change !== null && isChanging ? <Announced change={change} /> : null}
      {may('owner') && !isChanging ? (
        <div>
          <Button onClick={() => setIsOpen(true)}>Change wallet</Button>
        </div>
      ) : null}
      {contract === null ? null : <WithoutUs contract={contract} former={former} />}
      {isOpen ? (
        <ConsentDialog
          title="Change the settlement wallet"
          send="Change wallet"
          consentOf={(address) =>
            call('GET /accounts/{account}/{mode}/settlement_wallet/consent', {
              query: { wallet: address },
            })
          }
          request={(body) => call('POST /accounts/{account}/{mode}/settlement_wallet', { body })}
          onDone={close}
          onClose={close}
        >
          <p>
            All owners are notified by email. The contract delays payments to the new wallet; until
            then, the change can be stopped.
          </p>
        </ConsentDialog>
      ) : null}
    </section>
  );
}

type Place = NonNullable<ReadSettlementWalletResponse['contract']>;

interface WithoutUsProps {
  readonly contract: Place;
  readonly former: ReadSettlementWalletResponse['former_contracts'];
}

/** The facts by which the wallet withdraws alone, to be written down while somebody answers. */
function WithoutUs({ contract, former }: WithoutUsProps): ReactNode {
  return (
    <div className="stack">
      <h3>Your money without us</h3>
      <p className="soft">
        With these three facts, your wallet can withdraw your money from the contract directly. Save
        them, and <a href="contract.html">the page as a file</a>.
      </p>
      <ThreeFacts place={contract} name="Contract" />
      {former.map((one) => (
        <ThreeFacts
          key={one.settlement}
          place={{ ...one, chain_id: contract.chain_id }}
          name="Former contract"
        />
      ))}
    </div>
  );
}

function ThreeFacts({ place, name }: { readonly place: Place; readonly name: string }): ReactNode {
  const { chain_id: chain, settlement, merchant_number: merchant } = place;
  const named = { chain: String(chain), settlement, merchant: String(merchant) };
  const facts = new URLSearchParams(named).toString();
  return (
    <>
      <Facts
        facts={[
          ['Chain', String(chain)],
          [
            name,
            <span key="contract" className="id">
              {settlement}
            </span>,
          ],
          ['Merchant number', String(merchant)],
        ]}
      />
      <p>
        <a href={`contract#${facts}`}>Withdraw with your wallet alone</a>
      </p>
    </>
  );
}

interface AnnouncedProps {
  readonly change: NonNullable<ReadSettlementWalletResponse['change']>;
}

function Announced({ change }: AnnouncedProps): ReactNode {
  const { call, may } = useMerchant();
  return (
    <Notice tone="warn" role="status">
      <strong>A new wallet was announced</strong>
      <p>
        <span className="id">{change.wallet}</span>
        {change.applicable_at === null ? null : (
          <>
            {' '}
            takes over from <Time at={change.applicable_at} />
          </>
        )}
        . Until then it can be stopped.
      </p>
      {change.status === 'announced' ? (
        <p>
          Nothing is paid out meanwhile: if someone else announced it, the key of the current wallet
          may be stolen, too. Sales and refunds continue.
        </p>
      ) : null}
      {may('owner') ? (
        <ActionButton request={() => call('DELETE /accounts/{account}/{mode}/settlement_wallet')}>
          Stop the change
        </ActionButton>
      ) : null}
    </Notice>
  );
}
