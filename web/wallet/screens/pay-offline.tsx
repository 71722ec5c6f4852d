import { type FormEvent, type ReactNode, useState } from 'react';
import { presentTotal } from '#core/currency-conversion.ts';
import { named } from '#i18n/bidi-isolates.ts';
import {
  answerTo,
  type OfflinePrice,
  type OfflineRequest,
  offlineMessage,
  writeAnswer,
} from '../../data/offline-request.ts';
import { hasCamera } from '../../terminal/reader/camera.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { partOf } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { rateWords } from '../../ui/price-text.tsx';
import { Qr } from '../../ui/qr.tsx';
import { Status } from '../../ui/status.tsx';
import { Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { checkRequest, compareRate, type RequestProblem } from '../check-offline-request.ts';
import type { Vault } from '../key-vault.ts';
import { isOpen } from '../keyring.ts';
import { balanceOf, rememberBalance } from '../known-balance.ts';
import { askOwner, asksEach } from '../passkey-per-payment.ts';
import { pinOf } from '../pinned-contracts.ts';
import type { Account } from '../private-key-account.ts';
import { rememberSigned } from '../signed-prices.ts';
import { kept, type Network, useKept } from '../wallet-storage.ts';
import { PageLink } from './frame.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField } from './unlock-method.tsx';
import { useUnlocking } from './use-unlocking.ts';

const ScanDialog = partOf(async () => (await import('../../terminal/screens/scan.tsx')).ScanDialog);

/** Explains why a request is not signed, and suggests a remedy. */
function problemWords(problem: RequestProblem): string {
  return t(`wallet.pay_offline.problem.${problem}`);
}

function checked(text: string, network: Network | null): OfflineRequest | RequestProblem {
  if (network === null) return 'unknown_network';
  const known = { pin: pinOf(network), former: kept('formerContracts')[network] ?? [] };
  return checkRequest(text, known, Date.now());
}

interface Signed {
  readonly request: OfflineRequest;
  readonly answer: string;
}

async function sign(account: Account, request: OfflineRequest): Promise<Signed> {
  const from = account.address;
  const signature = await account.signTypedData(offlineMessage(request, from));
  return { request, answer: writeAnswer(answerTo(request, { from, signature }), request) };
}

/** Reduces the stored balance, against which later payments are checked. */
function subtract(network: Network, address: string, { value }: OfflineRequest): void {
  const held = balanceOf(network, address);
  if (held !== null) rememberBalance(network, address, held - value);
}

/**
 * Signs a payment to a till that has no connection. Needs neither a session nor the service: the
 * key and the contracts are in this browser.
 */
export function PayOfflinePage({ vault }: { readonly vault: Vault }): ReactNode {
  const network = useKept('network');
  const [signed, setSigned] = useState<Signed | null>(null);
  return (
    <main className="sheet stack">
      <title>{t('wallet.pay_offline.page')}</title>
      <div className="row row-apart">
        <PageLink path="wallet">{t('wallet.back_to_wallet')}</PageLink>
        {network === 'testnet' ? <Status tone="warn">{t('wallet.test_money')}</Status> : null}
      </div>
      <h1>{t('wallet.pay_offline.heading')}</h1>
      {signed === null ? (
        <RequestForm vault={vault} network={network} onSigned={setSigned} />
      ) : (
        <Answer {...signed} onDone={() => setSigned(null)} />
      )}
    </main>
  );
}

interface FormProps {
  readonly vault: Vault;
  readonly network: Network | null;
  readonly onSigned: (signed: Signed) => void;
}

function useRequest({ vault, network, onSigned }: FormProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<RequestProblem | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const read = text.trim() === '' ? null : checked(text, network);
  const opening = useUnlocking(vault, async (account) => {
    const request = checked(text, network);
    if (network === null || typeof request === 'string') return;
    const answered = await sign(account, request);
    subtract(network, vault.address, request);
    rememberSigned(request);
    onSigned(answered);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // Checks again, because the request may have expired while it was on the screen.
    const request = checked(text, network);
    if (typeof request === 'string') return setProblem(request);
    const isAsking = asksEach(vault) && isOpen(vault);
    const wrong = isAsking ? await askOwner(vault) : null;
    setRefused(wrong);
    if (wrong === null) opening.submit(event);
  };
  // A pasted or scanned text is complete, so its problem is shown immediately.
  const result = typeof read === 'string' && text.length >= WHOLE_TEXT ? read : problem;
  return {
    ...{ text, opening, submit },
    take: (typed: string) => {
      setText(typed);
      setProblem(null);
    },
    /** The request to sign; `null` until the text is valid. */
    request: read === null || typeof read === 'string' ? null : read,
    error: result === null ? null : problemWords(result),
    problem: refused ?? opening.problem,
  };
}

function RequestForm(props: FormProps): ReactNode {
  const { vault, network } = props;
  const { text, take, request, opening, ...form } = useRequest(props);
  return (
    <form className="stack" onSubmit={(event) => void form.submit(event)} noValidate>
      <p className="soft">{t('wallet.pay_offline.text')}</p>
      {hasCamera() ? <Scan onCode={take} /> : null}
      <TextField
        data-name="Request"
        label={t('wallet.pay_offline.request')}
        hint={t('wallet.pay_offline.request_hint')}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        dir="ltr"
        value={text}
        error={form.error}
        onChange={(event) => take(event.target.value)}
      />
      {request === null || network === null ? null : (
        <OfflineRequestPart request={request} balance={balanceOf(network, vault.address)} />
      )}
      <OpenerField
        vault={vault}
        password={opening.password}
        error={opening.wrong}
        onChange={opening.setPassword}
      />
      <ProblemNotice problem={form.problem} />
      <Button data-name="Sign" type="submit" kind="primary" large wide busy={opening.busy}>
        {request === null
          ? t('wallet.pay_offline.sign_button')
          : t('wallet.pay_offline.sign_sum_button', { sum: formatUsdc(request.value) })}
      </Button>
    </form>
  );
}

/** The beginning of a till's request. `data/offline-request.ts` checks the rest. */
const REQUEST = /^TLREQ/i;

function Scan({ onCode }: { readonly onCode: (text: string) => void }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button large wide onClick={() => setIsOpen(true)}>
        {t('wallet.pay_offline.scan_button')}
      </Button>
      {isOpen ? (
        <ScanDialog
          title={t('wallet.pay_offline.scan_heading')}
          isOwn={(code) => REQUEST.test(code)}
          onClose={() => setIsOpen(false)}
          onCode={(code) => {
            setIsOpen(false);
            onCode(code);
          }}
        />
      ) : null}
    </>
  );
}

/** Shorter than any request. While the user types, problems are shown only on signing. */
const WHOLE_TEXT = 150;

interface AskedProps {
  readonly request: OfflineRequest;
  /** `null` if the balance is unknown. */
  readonly balance: bigint | null;
}

/** Shows the payment to sign: the shop first, then sale, fees and total. */
function OfflineRequestPart({ request, balance }: AskedProps): ReactNode {
  const { merchantName, amount, value, validBefore, price } = request;
  const sums = price && presentTotal({ ...price, tip: 0, paid: value });
  const inShop = (units: number | undefined) =>
    price === undefined ? null : { currency: price.currency, units: BigInt(units ?? 0) };
  return (
    <section className="card stack" aria-label={t('wallet.pay_offline.asked')}>
      <h2 translate="no">{named(merchantName)}</h2>
      <Facts
        facts={[
          [
            t('wallet.pay_offline.sale'),
            <Amount key="sale" atoms={amount} price={inShop(price?.amount)} />,
          ],
          [
            t('ui.service_fee'),
            value === amount ? null : (
              <Amount key="fees" atoms={value - amount} price={inShop(sums?.fees)} />
            ),
          ],
          [t('ui.total'), <Amount key="total" atoms={value} price={inShop(sums?.total)} />],
          [t('wallet.pay_offline.rate'), price === undefined ? null : named(rateWords(price))],
          [
            t('wallet.pay_offline.until'),
            <Time key="until" at={new Date(validBefore * 1_000).toISOString()} />,
          ],
        ]}
      />
      <p className="soft small">{t('wallet.pay_offline.name_text')}</p>
      {price === undefined ? null : <RateNotice price={price} />}
      {balance !== null && value > balance ? (
        <Notice tone="warn" role="alert">
          <p>
            {t('wallet.pay_offline.above_balance', {
              sum: formatUsdc(balance > 0n ? balance : 0n),
            })}
          </p>
        </Notice>
      ) : null}
    </section>
  );
}

/** Warns if the rate differs from the last one that the wallet saw, or cannot be compared. */
function RateNotice({ price }: { readonly price: OfflinePrice }): ReactNode {
  const seen = kept('seenRates')[price.currency];
  const check = compareRate(price, seen);
  if (check === 'near') return null;
  const rate = seen === undefined ? '' : rateWords({ ...price, rate: seen });
  return (
    <Notice tone="warn" role="alert">
      <p>{t(`wallet.pay_offline.rate.${check}`, { rate })}</p>
    </Notice>
  );
}

interface AnswerProps extends Signed {
  readonly onDone: () => void;
}

/** Shows the code for the till. It is not a receipt: the shop is paid once its till is online. */
function Answer({ request, answer, onDone }: AnswerProps): ReactNode {
  const values = { sum: formatUsdc(request.value), merchant: request.merchantName };
  return (
    <>
      <p role="status">{t('wallet.pay_offline.signed', values)}</p>
      <Qr value={answer} label={t('wallet.pay_offline.answer_picture')} />
      <CopyField data-name="Answer" label={t('wallet.pay_offline.answer')} value={answer} />
      <p className="soft">{t('wallet.pay_offline.answer_text')}</p>
      <Button onClick={onDone}>{t('wallet.pay_offline.next_button')}</Button>
    </>
  );
}
