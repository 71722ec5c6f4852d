import { type ReactNode, useState } from 'react';
import type { ReadSettlementWalletResponse } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';
import { ConsentDialog } from './sign-wallet-consent.tsx';

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
      <h2>{t('dashboard.settlement_wallet.heading')}</h2>
      <CopyField label={t('dashboard.field.wallet')} value={wallet} />
      {change !== null && isChanging ? <Announced change={change} /> : null}
      {may('owner') && !isChanging ? (
        <div>
          <Button onClick={() => setIsOpen(true)}>{t('dashboard.button.change_wallet')}</Button>
        </div>
      ) : null}
      {contract === null ? null : <WithoutUs contract={contract} former={former} />}
      {isOpen ? (
        <ConsentDialog
          title={t('dashboard.settlement_wallet.change_the_settlement_wallet.heading')}
          send={t('dashboard.button.change_wallet')}
          consentOf={(address) =>
            call('GET /accounts/{account}/{mode}/settlement_wallet/consent', {
              query: { wallet: address },
            })
          }
          request={(body) => call('POST /accounts/{account}/{mode}/settlement_wallet', { body })}
          onDone={close}
          onClose={close}
        >
          <p>{t('dashboard.settlement_wallet.change.text')}</p>
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

/**
 * Shows the facts that the wallet needs to withdraw without the service. Merchants should store
 * them while the service is available.
 */
function WithoutUs({ contract, former }: WithoutUsProps): ReactNode {
  return (
    <div className="stack">
      <h3>{t('dashboard.settlement_wallet.your_money_without_us.heading')}</h3>
      <p className="soft">
        {rich('dashboard.settlement_wallet.without_us.text', {
          link: (text) => <a href="contract.html">{text}</a>,
        })}
      </p>
      <ThreeFacts place={contract} name={t('dashboard.settlement_wallet.contract.name')} />
      {former.map((one) => (
        <ThreeFacts
          key={one.settlement}
          place={{ ...one, chain_id: contract.chain_id }}
          name={t('dashboard.settlement_wallet.former_contract.name')}
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
          [t('dashboard.field.chain'), String(chain)],
          [
            name,
            <span key="contract" className="id">
              {settlement}
            </span>,
          ],
          [t('dashboard.settlement_wallet.merchant_number'), String(merchant)],
        ]}
      />
      <p>
        <a href={`contract#${facts}`}>{t('dashboard.settlement_wallet.three_facts.link')}</a>
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
      <strong>{t('dashboard.settlement_wallet.announced.heading')}</strong>
      <p>
        {rich(
          'dashboard.settlement_wallet.announced.from',
          {
            wallet: () => <span className="id">{change.wallet}</span>,
            time: () => <Time at={change.applicable_at ?? ''} />,
          },
          { from: change.applicable_at === null ? 'unknown' : 'known' },
        )}
      </p>
      {change.status === 'announced' ? (
        <p>{t('dashboard.settlement_wallet.announced.text')}</p>
      ) : null}
      {may('owner') ? (
        <ActionButton request={() => call('DELETE /accounts/{account}/{mode}/settlement_wallet')}>
          {t('dashboard.settlement_wallet.stop_the_change.button')}
        </ActionButton>
      ) : null}
    </Notice>
  );
}
