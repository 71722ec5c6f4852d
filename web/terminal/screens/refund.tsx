import { type FormEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import type { Answer } from '../../data/api.ts';
import {
  allowBy,
  type DeviceApi,
  type ManagerAtTill,
  type Page,
  type Payment,
  type Refund,
} from '../../data/device-api.ts';
import { refundableLines } from '../../data/refund-lines.ts';
import type { RefundPart as Part } from '../../data/refund-request-fields.ts';
import { type RefundLeft, type RefundSum, readRefund, refundLeft } from '../../data/refund-sum.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { useRefundItems } from '../../data/use-refund-items.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { RefundCrumb } from '../../ui/refund-crumb.tsx';
import { ItemsButton, RefundItems } from '../../ui/refund-items.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t, textLanguage } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Money } from '../../ui/typed-money.tsx';
import { writeSum } from '../../ui/typed-sum.ts';
import { keepRefund, keptRefund, type PendingRefund } from '../till-storage.ts';
import { WORDS } from '../till-words.ts';
import { ManagerDialog } from './lazy-parts.ts';
import { MANAGER_CODE_LENGTH, ManagerCodeField } from './manager-code-field.tsx';
import type { TillContext } from './till-context.ts';

const RETRY_MS = 2_000;
/** Refusals after which the refund may still be in progress. */
const STILL_OPEN = new Set([
  'idempotency_request_in_progress',
  'internal_error',
  'request_timeout',
  'service_unavailable',
  'rate_limit_exceeded',
]);

/**
 * The service returns these statuses before it checks the idempotency key, so they do not reveal
 * the result of a refund that was sent earlier.
 */
const SAYS_NOTHING = new Set([401, 403]);

/**
 * The service returns this error after it has checked the idempotency key, so nothing was refunded
 * with that key.
 */
const MANAGER = 'manager_required';
/** The service returns this error, too, while wrong PINs block the manager. */
const BLOCKED = 'rate_limit_exceeded';

type Outcome =
  | { readonly is: 'done'; readonly refund: Refund }
  | { readonly is: 'refused'; readonly code: string; readonly message: string };

/** The service's own message about managers is for the developer of a till. */
function refusedWords(error: Parameters<typeof refusalText>[0], triesManager: boolean): string {
  if (error.code === BLOCKED) return t('till.person.blocked');
  if (error.code !== MANAGER) return refusalText(error);
  return t(triesManager ? 'till.cart.code_invalid' : 'till.manager.heading');
}

/**
 * Sends the refund, and repeats it with the same key until its result is known, even after a
 * reload. Until then, no other refund can be sent.
 */
function useRefund({ api }: TillContext, onDone: () => void) {
  const [pending, setPending] = useState(keptRefund);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const running = useRef(false);
  /** True if the service may already have the refund, for example one stored before a reload. */
  const mayBeThere = useRef(pending !== null);
  const hasManager = useRef(false);
  const finish = useCallback(
    (outcome: Outcome) => {
      keepRefund(null);
      setPending(null);
      setOutcome(outcome);
      onDone();
    },
    [onDone],
  );
  useEffect(() => {
    if (pending === null || running.current) return;
    running.current = true;
    let isCurrent = true;
    const run = async () => {
      while (isCurrent) {
        const answer = await api.refund(pending);
        if (answer.is === 'done') return finish({ is: 'done', refund: answer.value });
        if (answer.is === 'refused') {
          const { code } = answer.error;
          const isBlocked = code === BLOCKED && hasManager.current && !mayBeThere.current;
          const isOpen = STILL_OPEN.has(code) && !isBlocked;
          const says = code === MANAGER || !SAYS_NOTHING.has(answer.status);
          if (!isOpen && (!mayBeThere.current || says)) {
            const triesManager = hasManager.current || pending.managerCode != null;
            const message = refusedWords(answer.error, triesManager);
            return finish({ is: 'refused', code, message });
          }
        }
        if (answer.is === 'unknown') mayBeThere.current = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    };
    void run().finally(() => {
      running.current = false;
    });
    return () => {
      isCurrent = false;
    };
  }, [api, pending, finish]);
  const start = (refund: PendingRefund, manager: ManagerAtTill | null) => {
    if (manager !== null) allowBy(manager, refund.key);
    // Stores the refund before it is sent, so that later attempts repeat the same refund.
    keepRefund(refund);
    mayBeThere.current = false;
    hasManager.current = manager !== null;
    setOutcome(null);
    setPending(refund);
  };
  return { pending, outcome, start };
}

function Told({ outcome }: { readonly outcome: Outcome }): ReactNode {
  if (outcome.is === 'refused') {
    return (
      <Notice tone="bad" role="alert">
        <strong>{t('till.refund.end.failed')}</strong>
        <p>{outcome.message}</p>
      </Notice>
    );
  }
  const { refund } = outcome;
  if (refund.status === 'failed') {
    return (
      <Notice tone="bad" role="alert">
        <strong>{t('till.refund.end.failed')}</strong>
        <p>{textLanguage() === 'en' ? refund.failure_message : t('till.refund.end_hint.failed')}</p>
      </Notice>
    );
  }
  return (
    <Notice tone={refund.status === 'succeeded' ? 'good' : 'info'} role="status">
      <strong>
        {refund.status === 'succeeded'
          ? t('till.refund.end.succeeded')
          : t('till.refund.end.pending')}
      </strong>
      <p>
        {rich(
          refund.status === 'succeeded'
            ? 'till.refund.end_hint.succeeded'
            : 'till.refund.end_hint.pending',
          {
            sum: () => <Amount atoms={BigInt(refund.amount)} price={priceOf(refund.presentment)} />,
          },
        )}
      </p>
    </Notice>
  );
}

/** Loads the earlier refunds of a sale with lines, to know what is left of them. */
function useItems(api: DeviceApi, payment: Payment) {
  const [refunds, setRefunds] = useState<Page<Refund>>();
  const { id, line_items: lines } = payment;
  useEffect(() => {
    if (lines === null) return;
    const set = (answer: Answer<Page<Refund>>) => {
      if (answer.is === 'done') setRefunds(answer.value);
    };
    void api.refunds(id).then(set);
  }, [api, id, lines]);
  return useRefundItems(refundableLines(payment, refunds));
}

interface AmountPartProps {
  readonly read: RefundSum;
  readonly all: RefundLeft;
  readonly typed: string;
  readonly onTyped: (text: string) => void;
}

function AmountPart({ read, all, typed, onTyped }: AmountPartProps): ReactNode {
  const { sum, problem, crumb } = read;
  const { left, currency } = all;
  const most = formatMoney(left, currency);
  return (
    <>
      <SumField
        data-name="Amount"
        label={t('till.amount')}
        value={typed}
        sum={sum}
        currency={currency}
        onText={onTyped}
        hint={t('till.refund.amount_hint', { sum: most })}
        error={sum.is === 'empty' ? t('till.refund.problem.amount', { sum: most }) : problem}
      />
      {crumb === null ? null : (
        <RefundCrumb left={left} crumb={crumb} onAll={() => onTyped(writeSum(left))} />
      )}
    </>
  );
}

type ItemsPartProps = ReturnType<typeof useItems>;

function ItemsPart({ opened, chosen, setChosen, part, problem }: ItemsPartProps): ReactNode {
  if (opened === null) return null;
  const isWorthless = part === null && chosen.some((quantity) => quantity > 0n);
  return (
    <RefundItems
      {...opened}
      chosen={chosen}
      sum={part === null ? null : formatMoney(part.units, part.currency)}
      error={isWorthless ? problem : null}
      readOnly={false}
      onChosen={setChosen}
    />
  );
}

interface RefundDialogProps {
  readonly api: DeviceApi;
  readonly payment: Payment;
  readonly left: RefundLeft;
  readonly onClose: () => void;
  /** True if the refund needs a manager's code. */
  readonly needsCode: boolean;
  readonly onRefund: (part: Part, managerCode: string | null) => void;
}

function RefundDialog(props: RefundDialogProps): ReactNode {
  const { api, payment, left: all, needsCode, onClose, onRefund } = props;
  const { left, currency } = all;
  const [code, setCode] = useState('');
  const [wrote] = useState(left);
  const [typed, setTyped] = useState(writeSum(wrote, sumRules(currency)));
  const read = readRefund(typed, { ...all, wrote });
  const items = useItems(api, payment);
  const part = items.opened === null ? read.part : items.part;
  const isReady = part !== null && (!needsCode || code.trim().length >= MANAGER_CODE_LENGTH);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onRefund(part, needsCode ? code.trim() : null);
  };
  return (
    <Dialog title={t('till.refund.heading')} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        {items.opened === null ? (
          <AmountPart read={read} all={all} typed={typed} onTyped={setTyped} />
        ) : (
          <ItemsPart {...items} />
        )}
        {items.opened === null && items.lines === null ? null : (
          <ItemsButton isOpen={items.opened !== null} disabled={false} onClick={items.turn} />
        )}
        {needsCode ? <ManagerCodeField code={code} onCode={setCode} /> : null}
        <p>
          {payment.payer === undefined
            ? t('till.refund.text')
            : t('till.refund.text_to', { end: payment.payer.slice(-4) })}
        </p>
        <Button data-name="Refund" type="submit" kind="danger" large disabled={!isReady}>
          {part !== null
            ? t('till.refund.button_sum', { sum: formatMoney(part.units, currency) })
            : t('till.refund.button')}
        </Button>
        <Button onClick={onClose}>{t('till.refund.cancel_button')}</Button>
      </form>
    </Dialog>
  );
}

/** A refund that was sent, and may be sent again with a manager. */
interface Asked {
  readonly part: Part;
  readonly hadManager: boolean;
}

export interface RefundPartProps extends TillContext {
  readonly payment: Payment;
  /** Called when the payment may have changed and must be loaded again. */
  readonly onDone: () => void;
}

function Underway({
  pending,
  payment,
}: {
  readonly pending: PendingRefund;
  /** The payment that the page shows. */
  readonly payment: string;
}): ReactNode {
  return (
    <Notice tone="info" icon="wait" role="status">
      <strong>{t(WORDS.checking)}</strong>
      <p>
        {rich(pending.payment === payment ? 'till.refund.pending' : 'till.refund.other_pending', {
          sum: () => <Money {...pending.part} />,
        })}
      </p>
    </Notice>
  );
}

export function RefundPart(props: RefundPartProps): ReactNode {
  const { payment, onDone, settings, device } = props;
  const { pending, outcome, start } = useRefund(props, onDone);
  const [open, setOpen] = useState(false);
  const [usesCode, setUsesCode] = useState(settings.hasPeople !== true);
  /** The refund that needs a manager at the till. */
  const [asked, setAsked] = useState<Asked | null>(null);
  const left = refundLeft(payment);
  const isOther = device !== null && payment.terminal !== device.id;
  const refusal = outcome?.is === 'refused' ? outcome.code : null;
  const isBlocked = refusal === BLOCKED;
  const isRefused = refusal === MANAGER || isBlocked;
  const needsCode = usesCode && (isOther || isRefused);
  const refund = (part: Part, managerCode: string | null, manager: ManagerAtTill | null) => {
    setAsked({ part, hadManager: manager !== null });
    const cashier = settings.cashier || null;
    const key = crypto.randomUUID();
    start({ key, payment: payment.id, part, cashier, managerCode }, manager);
  };
  const takeCode = () => {
    setUsesCode(true);
    setAsked(null);
    setOpen(true);
  };
  return (
    <>
      {pending === null ? null : <Underway pending={pending} payment={payment.id} />}
      {outcome === null ? null : <Told outcome={outcome} />}
      {left.left > 0n ? (
        <Button data-name="Refund" disabled={pending !== null} onClick={() => setOpen(true)}>
          {t('till.refund.button')}
        </Button>
      ) : null}
      {open ? (
        <RefundDialog
          api={props.api}
          payment={payment}
          left={left}
          needsCode={needsCode}
          onClose={() => setOpen(false)}
          onRefund={(part, managerCode) => {
            setOpen(false);
            refund(part, managerCode, null);
          }}
        />
      ) : null}
      {isRefused && !usesCode && asked !== null ? (
        <ManagerDialog
          change={props.change}
          wasRefused={asked.hadManager}
          isBlocked={isBlocked}
          onManager={(manager) => refund(asked.part, null, manager)}
          onCode={takeCode}
          onClose={() => setAsked(null)}
        />
      ) : null}
    </>
  );
}
