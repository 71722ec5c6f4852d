import { type ReactNode, useEffect, useId } from 'react';
import { chargesOf, type FeeRates } from '#core/charges.ts';
import { named } from '#i18n/bidi-isolates.ts';
import type { PaymentResult } from '../../data/payer-api.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { useModal } from '../../ui/dialog.tsx';
import { formatAtoms } from '../../ui/format-usdc.ts';
import { Icon } from '../../ui/icon.tsx';
import { sumWords } from '../../ui/paid-total.ts';
import type { SaleSum } from '../../ui/quoted-price.ts';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { sumClass } from '../../ui/sum.tsx';
import { t } from '../../ui/text/t.ts';
import { declineHint } from '../decline-hint.ts';
import { closeResult } from '../payment-results.ts';
import { signalOwner } from '../ring-sound.ts';
import { useHere } from '../wallet-context.tsx';
import { useWallet } from '../wallet-reads.ts';
import './payment-moment.css';

/** Rises for a payment and falls for a decline, and feels different in a pocket. */
const SIGNALS = {
  paid: { notes: [880, 1320], vibrationMs: [60, 40, 120] },
  declined: { notes: [330, 220], vibrationMs: [250, 100, 250] },
};

/**
 * Returns what left the wallet for a payment with these charges, less the cashback, as the till
 * shows it. @param rates Without them, the charges themselves.
 */
function chargedTotal(charged: bigint, rates: FeeRates | null | undefined): bigint {
  if (!rates) return charged;
  const whole = 10_000n;
  let sale = (charged * whole) / (whole + BigInt(rates.acquirer + rates.protocol));
  const charges = (amount: bigint) => {
    const { pulled, cashback } = chargesOf(amount, rates);
    return { pulled, all: pulled + cashback };
  };
  // Each fee is rounded down, so the sale can be an atom or two more.
  while (charges(sale).all < charged) sale++;
  return charges(sale).pulled;
}

/** The sum as the till shows it; `null` for a declined sale in USDC. */
function useSum({ presentment, total_charged: charged }: PaymentResult): SaleSum | null {
  const rates = useWallet().data?.fee_rates;
  const atoms = charged === null ? null : chargedTotal(BigInt(charged), rates);
  if (presentment === null) return atoms === null ? null : { atoms, price: null };
  const { currency, rate, amount, tip_amount: tip, total } = presentment;
  return { atoms: atoms ?? 0n, price: { currency, rate, units: BigInt(total ?? amount + tip) } };
}

function Total(sum: SaleSum): ReactNode {
  return (
    <p className={sumClass(sum.price === null ? formatAtoms(sum.atoms) : sumWords(sum))}>
      {/* Not a button, because the dialog would focus it. */}
      <Amount still {...sum} />
    </p>
  );
}

/**
 * Shows the result of a payment over the whole screen until the user closes it, so that the shop
 * can see it, too.
 */
export function PaymentMoment({ result }: { readonly result: PaymentResult }): ReactNode {
  const { refresh } = useHere();
  const titleId = useId();
  const dialog = useModal();
  const sum = useSum(result);
  const kind = result.result;
  const isPaid = kind === 'paid';
  useEffect(() => {
    refresh();
    // Once, although each window shows it.
    if (document.hasFocus()) signalOwner(SIGNALS[kind]);
  }, [kind, refresh]);
  return (
    <dialog
      ref={dialog}
      className="moment"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        closeResult();
      }}
    >
      <section
        className={`outcome is-full-${isPaid ? 'good' : 'bad'}`}
        role="status"
        data-result={RESULT_NAMES[kind]}
      >
        <div className="moment-text">
          <span className={`moment-mark moment-mark-${isPaid ? 'good' : 'bad'}`}>
            <Icon name={isPaid ? 'good' : 'bad'} />
          </span>
          <h1 id={titleId}>{t(`wallet.confirm.end.${kind}`)}</h1>
          {sum === null ? null : <Total {...sum} />}
          <p className="moment-shop">{named(result.merchant)}</p>
          {isPaid ? null : <p>{declineHint(result.decline_code)}</p>}
        </div>
        <div className="moment-actions">
          <Button data-name="Done" large className="moment-done" onClick={closeResult}>
            {t('wallet.done')}
          </Button>
          {result.receipt_url === null ? null : (
            <a
              className={buttonClass({ large: true })}
              data-name="Receipt"
              href={result.receipt_url}
              onClick={closeResult}
            >
              {t('wallet.history.receipt')}
            </a>
          )}
        </div>
      </section>
    </dialog>
  );
}
