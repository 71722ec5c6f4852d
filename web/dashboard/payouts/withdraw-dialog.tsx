import { type ReactNode, useState } from 'react';
import type { CreateWithdrawalResponse } from '../../data/types/dashboard.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { typedUsdc } from '../../ui/format-usdc.ts';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { useMerchant } from '../use-merchant.ts';

export interface WithdrawDialogProps {
  readonly available: bigint;
  readonly wallet: string;
  readonly onClose: () => void;
}

export function WithdrawDialog({ available, wallet, onClose }: WithdrawDialogProps): ReactNode {
  const { call } = useMerchant();
  const { most, typed, setTyped, sum } = useAmount(available);
  const [made, setMade] = useState<CreateWithdrawalResponse | null>(null);
  const sending = useSend(['amount']);
  const atoms = sumIn(sum);
  const isValid = atoms !== null && atoms > 0n && atoms <= most;
  const withdraw = async () => {
    if (!isValid) {
      return sending.refuse(
        'amount',
        t('dashboard.withdraw_dialog.amount_invalid', { most: writeSum(most) }),
      );
    }
    const body = { amount: Number(atoms) };
    const sent = await sending.send((idempotencyKey) =>
      call('POST /accounts/{account}/{mode}/withdrawals', { body, idempotencyKey }),
    );
    if (sent !== null) setMade(sent);
  };
  if (made !== null) return <Made amount={made.amount} onClose={onClose} />;
  return (
    <FormDialog
      title={t('dashboard.button.withdraw')}
      onClose={onClose}
      sending={sending}
      data-name="Withdraw"
      onSend={withdraw}
      send={
        isValid
          ? t('dashboard.withdraw_dialog.button', { sum: typedUsdc(atoms) })
          : t('dashboard.button.withdraw')
      }
    >
      <p>
        {rich('dashboard.withdraw_dialog.text', {
          wallet: () => <span className="id">{wallet}</span>,
        })}
      </p>
      <SumField
        data-name="Amount"
        label={t('dashboard.field.amount')}
        value={typed}
        sum={sum}
        readOnly={sending.busy || sending.isUnknown}
        onText={setTyped}
        hint={t('dashboard.withdraw_dialog.amount_hint', { most: writeSum(most) })}
        error={sending.problemAt('amount')}
      />
    </FormDialog>
  );
}

interface MadeProps {
  readonly amount: number;
  readonly onClose: () => void;
}

function Made({ amount, onClose }: MadeProps): ReactNode {
  return (
    <Dialog title={t('dashboard.button.withdraw')} onClose={onClose}>
      <Notice tone="good" role="status">
        <strong>{t('dashboard.withdraw_dialog.done')}</strong>
        <p>
          {t('dashboard.withdraw_dialog.done_text', {
            sum: typedUsdc(BigInt(amount)),
          })}
        </p>
      </Notice>
      <div className="row">
        <Button onClick={onClose}>{t('desk.button.done')}</Button>
      </div>
    </Dialog>
  );
}

/** Holds the typed amount, which stays valid when this withdrawal itself reduces the balance. */
function useAmount(available: bigint) {
  const [wrote] = useState(available);
  const [typed, setTyped] = useState(() => writeSum(wrote));
  const most = available > wrote ? available : wrote;
  return { most, typed, setTyped, sum: readSum(typed, { wrote }) };
}
