import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from 'react';
import type { PaidSum, Payment } from '../../data/device-api.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { sumRules } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { readSum, sumIn } from '../../ui/typed-sum.ts';
import { goTo } from '../page-path.ts';
import { hasCamera } from '../reader/camera.ts';
import { ScanDialog } from './lazy-parts.ts';
import { PaymentPage } from './sales-history.tsx';
import type { TillContext } from './till-context.ts';

function isNumber(text: string): boolean {
  return /^[2-9a-z]{5}-\d+$/i.test(text);
}

/** True for a receipt number or the URL in its QR code. Any other text is an order ID. */
function isReceipt(text: string): boolean {
  return isNumber(text) || /^[0-9A-Za-z]{22,35}$/.test(text) || text.includes('/');
}

const OF_ORDER = 'till.find.amount_hint_order';
const OF_NUMBER = 'till.find.amount_hint_number';
const NOT_FOUND = 'till.find.not_found';
const NOT_FOUND_HERE = 'till.find.not_found_here';

type SaleResult =
  | { readonly is: 'sale'; readonly payment: Payment }
  | { readonly is: 'nothing'; readonly words: string }
  | { readonly is: 'problem'; readonly words: string };

const UNREACHED = 'till.find.unreached';

/** Looks up a sale, and reloads it after a change. */
function useSale({ api }: TillContext) {
  const [result, setResult] = useState<SaleResult | null>(null);
  const [busy, setBusy] = useState(false);
  const look = useCallback(
    async (typed: string, paid: PaidSum | null) => {
      setBusy(true);
      const answer = await api.find(
        paid === null || isReceipt(typed) ? { receipt: typed, paid } : { orderId: typed, paid },
      );
      setBusy(false);
      if (answer.is === 'refused') setResult({ is: 'problem', words: refusalText(answer.error) });
      else if (answer.is !== 'done') setResult({ is: 'problem', words: t(UNREACHED) });
      else {
        const [payment] = answer.value.data;
        const words = t(isNumber(typed) && paid === null ? NOT_FOUND_HERE : NOT_FOUND);
        setResult(payment === undefined ? { is: 'nothing', words } : { is: 'sale', payment });
      }
    },
    [api],
  );
  return { found: result, busy, look };
}

/** Holds the typed amount, in the shop's currency, or in USDC if the cashier chooses that. */
function useTypedPaid(shop: string | null) {
  const [text, setText] = useState('');
  const [isUsdc, setIsUsdc] = useState(false);
  const currency = isUsdc ? null : shop;
  return { text, setText, setIsUsdc, currency, read: readSum(text, sumRules(currency)) };
}

type PaidFieldProps = ReturnType<typeof useTypedPaid> & {
  readonly shop: string | null;
  readonly hint: string;
};

function PaidField(props: PaidFieldProps): ReactNode {
  const { text, setText, setIsUsdc, currency, read, shop, hint } = props;
  return (
    <>
      <SumField
        data-name="Amount"
        label={t('till.amount')}
        value={text}
        sum={read}
        currency={currency}
        shows
        onText={setText}
        hint={hint}
      />
      {shop === null ? null : (
        <Select
          label={t('till.find.currency')}
          hint={t('till.find.currency_hint')}
          value={currency === null ? 'USDC' : shop.toUpperCase()}
          onChange={({ target }) => setIsUsdc(target.value === 'USDC')}
        >
          <option translate="no">{shop.toUpperCase()}</option>
          <option translate="no">USDC</option>
        </Select>
      )}
    </>
  );
}

function FindForm({
  receipt,
  shop,
  busy,
  onLook,
}: {
  readonly receipt: string | null;
  /** The shop's currency; `null` for USDC, `undefined` until the service has sent it. */
  readonly shop: string | null | undefined;
  readonly busy: boolean;
  readonly onLook: (typed: string, paid: PaidSum | null) => void;
}): ReactNode {
  const [typed, setTyped] = useState(receipt ?? '');
  const sum = useTypedPaid(shop ?? null);
  const [scanning, setScanning] = useState(false);
  const text = typed.trim();
  const isOrder = text !== '' && !isReceipt(text);
  const takesAmount = isOrder || isNumber(text);
  const units = takesAmount ? sumIn(sum.read) : null;
  const isLeftOut = !isOrder && (!takesAmount || sum.text === '');
  // Until the currency is known, the digits have no meaning.
  const isRead = units !== null && shop !== undefined;
  const isReady = text !== '' && (isRead || isLeftOut);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onLook(text, units === null ? null : { units, currency: sum.currency });
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextField
        label={t('till.find.number')}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        hint={t('till.find.number_hint')}
      />
      {takesAmount ? (
        <PaidField {...sum} shop={shop ?? null} hint={t(isOrder ? OF_ORDER : OF_NUMBER)} />
      ) : null}
      <div className="row">
        <Button type="submit" kind="primary" busy={busy} disabled={!isReady}>
          {t('till.find.button')}
        </Button>
        {hasCamera() ? (
          <Button onClick={() => setScanning(true)}>{t('till.find.scan_button')}</Button>
        ) : null}
      </div>
      {scanning ? (
        <ScanDialog
          title={t('till.find.scan_heading')}
          isOwn={(code) => code.includes('/receipts/')}
          onClose={() => setScanning(false)}
          onCode={(code) => goTo(`find/${code.split('/').at(-1) ?? code}`)}
        />
      ) : null}
    </form>
  );
}

export function FindScreen(context: TillContext & { readonly receipt: string | null }): ReactNode {
  const { receipt } = context;
  const { found, busy, look } = useSale(context);
  const [target, setTarget] = useState<readonly [string, PaidSum | null] | null>(null);
  useEffect(() => setTarget(receipt === null ? null : [receipt, null]), [receipt]);
  useEffect(() => {
    if (target !== null) void look(...target);
  }, [target, look]);
  return (
    <div className="stack">
      <title>{t('till.find.page')}</title>
      <h1>{t('till.find.heading')}</h1>
      <FindForm
        key={receipt}
        receipt={receipt}
        shop={context.device?.currency}
        busy={busy}
        onLook={(typed, paid) => setTarget([typed, paid])}
      />
      {found === null || found.is === 'sale' ? null : (
        <Notice tone={found.is === 'nothing' ? 'info' : 'warn'} role="status">
          <p>{found.words}</p>
        </Notice>
      )}
      {found?.is === 'sale' ? (
        <PaymentPage
          key={found.payment.id}
          {...context}
          payment={found.payment}
          reload={() => setTarget((last) => (last === null ? null : [...last]))}
        />
      ) : null}
    </div>
  );
}
