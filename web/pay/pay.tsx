import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { type Provider, watchWallets } from '../data/injected-wallets.ts';
import { Amount } from '../ui/amount.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import type { Price } from '../ui/format-price.ts';
import { Icon } from '../ui/icon.tsx';
import { partOf } from '../ui/lazy-part.ts';
import { Notice } from '../ui/notice.tsx';
import { paidTip, priceOf } from '../ui/quoted-price.ts';
import { RESULT_NAMES } from '../ui/result-names.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { Status } from '../ui/status.tsx';
import { Sum } from '../ui/sum.tsx';
import { t } from '../ui/text/t.ts';
import { formatLeft, useTimeLeft } from '../ui/time-left.ts';
import { useKept } from '../wallet/wallet-storage.ts';
import { InjectedWallet } from './injected-wallet.tsx';
import { linkTotal, type PayApi, type PayLink, payApi } from './pay-link.ts';
import type { Step } from './pay-machine.ts';
import { type Payment, usePayment } from './use-payment.ts';

const OwnWallet = partOf(async () => (await import('./own-wallet.tsx')).OwnWallet);
const TipChoice = partOf(async () => (await import('../ui/tip-choice.tsx')).TipChoice);
const WalletAppLinks = partOf(async () => (await import('./wallet-app-links.tsx')).WalletAppLinks);
const WalletConnectWay = partOf(
  async () => (await import('./walletconnect-button.tsx')).WalletConnectWay,
);
const Qr = partOf(async () => (await import('../ui/qr.tsx')).Qr);

type OpenStep = Extract<Step, { at: 'open' }>;

function useProvider(): Provider | null {
  const [provider, setProvider] = useState<Provider | null>(null);
  useEffect(() => watchWallets((provider) => setProvider((before) => before ?? provider)), []);
  return provider;
}

function Who({ link }: { readonly link: PayLink }): ReactNode {
  return (
    <header className="pay-who">
      {link.network === 'testnet' ? <Status tone="warn">{t('pay.test_mode')}</Status> : null}
      <h1 className="branded">
        <bdi>{link.merchant.name}</bdi>
      </h1>
      {link.description == null ? null : (
        <p>
          <bdi>{link.description}</bdi>
        </p>
      )}
      <Sum {...linkTotal(link).total} />
    </header>
  );
}

function Part(props: {
  readonly name: string;
  readonly atoms: bigint;
  readonly price?: Price | null;
  readonly total?: boolean;
}): ReactNode {
  return (
    <div className={props.total === true ? 'pay-total' : undefined}>
      <dt>{props.name}</dt>
      <dd>
        <Amount atoms={props.atoms} price={props.price ?? null} />
      </dd>
    </div>
  );
}

function Parts({ link }: { readonly link: PayLink }): ReactNode {
  const { amount, tip_amount: tip, presentment } = link;
  const { total, fee } = linkTotal(link);
  return (
    <dl className="pay-parts card">
      <Part name={t('pay.part.amount')} atoms={BigInt(amount)} price={priceOf(presentment)} />
      {tip > 0 ? (
        <Part name={t('pay.part.tip')} atoms={BigInt(tip)} price={paidTip(presentment)} />
      ) : null}
      {fee === null ? null : <Part name={t('ui.service_fee')} {...fee} />}
      <Part name={t('ui.total')} {...total} total />
    </dl>
  );
}

function Left({ link, clockOffsetMs }: { link: PayLink; clockOffsetMs: number }): ReactNode {
  const left = useTimeLeft(link.expires_at, clockOffsetMs);
  return (
    <p className="soft small row row-apart">
      <span>{link.order_id === null ? null : t('pay.order', { order: link.order_id })}</span>
      <span role="timer">{t('pay.time_left', { time: formatLeft(left) })}</span>
    </p>
  );
}

/** Returns `pay/<token>`, regardless of the path prefix of the service. */
function paymentPath(): string {
  return location.pathname.split('/').slice(-2).join('/');
}

/**
 * True on a touch device, where a wallet app may be installed. On a computer, the links would only
 * lead to the app's download page.
 */
function isTouched(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}

/**
 * Offers this site's own wallet first, because it needs no installation. Draws the QR code on
 * request.
 */
function NoWallet(): ReactNode {
  const [isCodeShown, setCodeShown] = useState(false);
  return (
    <section className="card pay-code">
      <h2>{t('pay.no_wallet.heading')}</h2>
      <p>{t('pay.no_wallet.text')}</p>
      <a
        className={buttonClass({ kind: 'primary', wide: true })}
        href={`wallet?back=${paymentPath()}`}
      >
        {t('pay.no_wallet.button')}
      </a>
      {isTouched() ? <WalletAppLinks /> : null}
      {isCodeShown ? (
        <Qr value={location.href} label={t('pay.no_wallet.code')} />
      ) : (
        <Button onClick={() => setCodeShown(true)}>{t('pay.no_wallet.code_button')}</Button>
      )}
    </section>
  );
}

/**
 * Offers the ways to pay: with this site's wallet if the browser has one, otherwise with the
 * browser's wallet.
 */
function Ways({ step, payment }: { step: OpenStep; payment: Payment }): ReactNode {
  const vault = useKept('vault');
  const provider = useProvider();
  const [prefersOther, setPrefersOther] = useState(false);
  const ownFirst = vault !== null && !(prefersOther && provider !== null);
  return (
    <>
      {ownFirst ? (
        <OwnWallet vault={vault} step={step} payment={payment} />
      ) : provider === null ? (
        <NoWallet />
      ) : (
        <InjectedWallet provider={provider} step={step} payment={payment} />
      )}
      {document.querySelector('[name=walletconnect]') && (
        <WalletConnectWay step={step} payment={payment} />
      )}
      {vault === null || provider === null ? null : (
        <Button kind="quiet" onClick={() => setPrefersOther(!prefersOther)}>
          {t(ownFirst ? 'pay.other_wallet' : 'pay.own_wallet')}
        </Button>
      )}
    </>
  );
}

function OpenScreen({ step, payment }: { step: OpenStep; payment: Payment }): ReactNode {
  const { link, problem, declined } = step;
  return (
    <>
      <title>{t('pay.title', { merchant: link.merchant.name })}</title>
      <Who link={link} />
      {declined === null ? null : (
        <section
          className="outcome outcome-small is-full-bad"
          role="alert"
          data-result={RESULT_NAMES.declined}
        >
          <Icon name="bad" />
          <h2>{t('pay.result.declined')}</h2>
          <p>{declined}</p>
        </section>
      )}
      <Parts link={link} />
      {/* Shown above the ways to pay, because the browser's wallet reports late and must not
          move the layout. */}
      <Left link={link} clockOffsetMs={payment.clockOffsetMs} />
      {problem === null ? null : (
        <Notice tone="bad" role="alert">
          {problem}{' '}
          {problem === t('pay.problem.other_contracts') ? (
            <a href="wallet/contracts">{t('pay.compare_contracts')}</a>
          ) : null}
        </Notice>
      )}
      <Ways step={step} payment={payment} />
    </>
  );
}

const LOOKS = { paid: 'good', canceled: 'plain', expired: 'warn' } as const;

function ResultScreen({ step }: { step: Extract<Step, { at: 'ended' | 'checking' }> }): ReactNode {
  const { link } = step;
  const ended = step.at === 'ended' ? step.outcome : null;
  const is = ended ?? 'checking';
  const word = t(`pay.result.${is}`);
  const look = ended === null ? 'info' : LOOKS[ended];
  return (
    <>
      <title>{t('pay.title_result', { result: word })}</title>
      <section className={`outcome is-full-${look}`} role="status" data-result={RESULT_NAMES[is]}>
        {ended === null ? (
          <span className="spinner" aria-hidden="true" />
        ) : (
          <Icon name={look === 'plain' ? 'info' : look} />
        )}
        <h1>{word}</h1>
        <Sum {...linkTotal(link).total} />
        <p>{t('pay.to', { merchant: link.merchant.name })}</p>
        <p>{t(`pay.result.${is}_hint`)}</p>
      </section>
      {step.at === 'ended' && step.receipt !== null ? (
        <a className={buttonClass({ wide: true })} href={inSameLanguage(step.receipt)}>
          {t('pay.receipt')}
        </a>
      ) : null}
    </>
  );
}

/** Returns the receipt's URL with the language parameter of this page's URL. */
function inSameLanguage(receipt: string): string {
  const language = new URLSearchParams(location.search).get('lang');
  return language === null ? receipt : `${receipt}?lang=${encodeURIComponent(language)}`;
}

function Screen({ payment }: { readonly payment: Payment }): ReactNode {
  const { step } = payment;
  switch (step.at) {
    case 'loading':
      return <Skeleton />;
    case 'missing':
      return (
        <div className="pay-who">
          <h2>{t('pay.missing.heading')}</h2>
          <p className="soft">{t('pay.missing.text')}</p>
        </div>
      );
    case 'unreachable':
      return (
        <>
          <h1>{t('pay.unreachable.heading')}</h1>
          <Notice tone="bad" role="alert">
            {t('pay.unreachable.text')}
          </Notice>
          <Button onClick={payment.reload}>{t('pay.unreachable.button')}</Button>
        </>
      );
    case 'open':
      return <OpenScreen step={step} payment={payment} />;
    case 'checking':
    case 'ended':
      return <ResultScreen step={step} />;
  }
}

export function PayPage({ token }: { readonly token: string }): ReactNode {
  const api = useMemo(() => payApi(token), [token]);
  return (
    <main className="sheet pay">
      <Paying api={api} />
    </main>
  );
}

export interface PayingProps {
  readonly api: PayApi;
  /** Called when another payer or device has paid. */
  readonly onOthers?: () => void;
}

export function Paying({ api, onOthers }: PayingProps): ReactNode {
  const [tip, setTip] = useState<bigint | null>(null);
  const payment = usePayment(api, tip);
  const { step } = payment;
  const isOthers = step.at === 'ended' && !step.mine;
  useEffect(() => {
    if (isOthers) onOthers?.();
  }, [isOthers, onOthers]);
  const tipping = step.at === 'open' && tip === null ? step.link.tipping : null;
  // The service computes the total with the tip, so wait for its response.
  const hasTotal = step.at !== 'open' || BigInt(step.link.tip_amount) === (tip ?? 0n);
  if (step.at === 'open' && tipping !== null) {
    return (
      <TipChoice
        merchant={step.link.merchant.name}
        amount={BigInt(step.link.amount)}
        quoted={step.link.presentment}
        percentages={tipping.percentages}
        onTip={setTip}
      />
    );
  }
  return hasTotal ? <Screen payment={payment} /> : <Skeleton />;
}
