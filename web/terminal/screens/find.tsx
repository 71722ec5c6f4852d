import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from 'react';
import type { Payment } from '../../data/device.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { readSum, sumIn } from '../../ui/typed-sum.ts';
import { goTo } from '../place.ts';
import { hasCamera } from '../reader/camera.ts';
import { PaymentPage } from './history.tsx';
import { ScanDialog } from './lazy.ts';
import type { TillContext } from './shift.tsx';

function isNumber(text: string): boolean {
  return /^[2-9a-z]{5}-\d+$/i.test(text);
}

/** A receipt number or the URL in its QR code. Any other text is an order ID. */
function isReceipt(text: string): boolean {
  return isNumber(text) || /^[0-9A-Za-z]{22,35}$/.test(text) || text.includes('/');
}

const OF_ORDER = 'till.find.amount_hint_order';
const OF_NUMBER = 'till.find.amount_hint_number';
const NOT_FOUND = 'till.find.not_found';
const NOT_FOUND_HERE = 'till.find.not_found_here';

type Found =
  | { readonly is: 'sale'; readonly payment: Payment }
  | { readonly is: 'nothing'; readonly words: string }
  | { readonly is: 'problem'; readonly words: string };

const UNREACHED = 'till.find.unreached';

/** Looks up a sale, and reloads it after a change. */
function useSale({ api }: TillContext) {
  const [found, setFound] = useState<Found | null>(null);
  const [busy, setBusy] = useState(false);
  const look = useCallback(
    async (typed: string, amount: bigint | null) => {
      setBusy(true);
      const answer = await api.find(
        isReceipt(typed) ? { receipt: typed, amount } : { orderId: typed, amount: amount ?? 0n },
      );
      setBusy(false);
      if (answer.is === 'refused') setFound({ is: 'problem', words: refusalText(answer.error) });
      else if (answer.is !== 'done') setFound({ is: 'problem', words: t(UNREACHED) });
      else {
        const [payment] = answer.value.data;
        const words = t(isNumber(typed) && amount === null ? NOT_FOUND_HERE : NOT_FOUND);
        setFound(payment === undefined ? { is: 'nothing', words } : { is: 'sale', payment });
      }
    },
    [api],
  );
  return { found, busy, look };
}

/** The form in which the customer's receipt is typed or scanned. */
function FindForm({
  receipt,
  busy,
  onLook,
}: {
  readonly receipt: string | null;
  readonly busy: boolean;
  readonly onLook: (typed: string, amount: bigint | null) => void;
}): ReactNode {
  const [typed, setTyped] = useState(receipt ?? '');
  const [sum, setSum] = useState('');
  const [scanning, setScanning] = useState(false);
  const text = typed.trim();
  const isOrder = text !== '' && !isReceipt(text);
  const takesAmount = isOrder || isNumber(text);
  const read = readSum(sum);
  const amount = takesAmount ? sumIn(read) : null;
  const isReady = text !== '' && (amount !== null || !(isOrder || (takesAmount && sum !== '')));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onLook(text, amount);
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
        <SumField
          data-name="Amount"
          label={t('till.amount')}
          value={sum}
          sum={read}
          shows
          onText={setSum}
          hint={t(isOrder ? OF_ORDER : OF_NUMBER)}
        />
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
          onClose={() => setScanning(false)}
          onCode={(code) => goTo(`find/${code.split('/').at(-1) ?? code}`)}
        />
      ) : null}
    </form>
  );
}

/** Finds a sale of any of the shop's tills by the customer's receipt or order. */
export function FindScreen(context: TillContext & { readonly receipt: string | null }): ReactNode {
  const { receipt } = context;
  const { found, busy, look } = useSale(context);
  const [wanted, setWanted] = useState<readonly [string, bigint | null] | null>(null);
  useEffect(() => setWanted(receipt === null ? null : [receipt, null]), [receipt]);
  useEffect(() => {
    if (wanted !== null) void look(...wanted);
  }, [wanted, look]);
  return (
    <div className="stack">
      <title>{t('till.find.page')}</title>
      <h1>{t('till.find.heading')}</h1>
      <FindForm
        key={receipt}
        receipt={receipt}
        busy={busy}
        onLook={(typed, amount) => setWanted([typed, amount])}
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
          reload={() => setWanted((last) => (last === null ? null : [...last]))}
        />
      ) : null}
    </div>
  );
}
