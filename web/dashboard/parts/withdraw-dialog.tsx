import { type ReactNode, useState } from 'react';
import type { CreateWithdrawalResponse } from '../../data/types/dashboard.ts';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatAtoms, formatUsdc } from '../../ui/money.ts';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { useMerchant } from '../merchant.ts';

export interface WithdrawDialogProps {
  readonly available: bigint;
  readonly wallet: string;
  readonly onClose: () => void;
}

/** Moves money from the contract to the merchant's own wallet. */
export function WithdrawDialog({ available, wallet, onClose }: WithdrawDialogProps): ReactNode {
  const { call } = useMerchant();
  const { most, typed, setTyped, sum } = useAmount(available);
  const [made, setMade] = useState<CreateWithdrawalResponse | null>(null);
  const sending = useSend(['amount']);
  const atoms = sumIn(sum);
  const isValid = atoms !== null && atoms > 0n && atoms <= most;
  const withdraw = async () => {
    if (!isValid) {
      return sending.refuse('amount', `Enter an amount of at most ${formatAtoms(most)}.`);
    }
    const body = { amount: Number(atoms) };
    const sent = await sending.send((idempotencyKey) =>
      call('POST /accounts/{account}/{mode}/withdrawals', { body, idempotencyKey }),
    );
    if (sent !== null) setMade(sent);
  };
  if (made !== null) {
    return (
      <Dialog title="Withdraw" onClose={onClose}>
        <Notice tone="good" role="status">
          <strong>It is on its way</strong>
          <p>
            {formatUsdc(BigInt(made.amount))} goes to your wallet within seconds. The list says when
            it has arrived.
          </p>
        </Notice>
        <div className="row">
          <Button onClick={onClose}>Done</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Withdraw" onClose={onClose}>
      <Form
        sending={sending}
        onSend={withdraw}
        send={isValid ? `Withdraw ${formatUsdc(atoms)}` : 'Withdraw'}
        onCancel={onClose}
      >
        <p>
          To your settlement wallet <span className="id">{wallet}</span>. This asks for your second
          factor.
        </p>
        <SumField
          label="Amount"
          value={typed}
          sum={sum}
          readOnly={sending.busy || sending.isUnknown}
          onText={setTyped}
          hint={`In USDC, at most ${formatAtoms(most)}.`}
          error={sending.problemAt('amount')}
        />
      </Form>
    </Dialog>
  );
}

/** Sales may arrive meanwhile; what this withdrawal takes away does not make it too large. */
function useAmount(available: bigint) {
  const [wrote] = useState(available);
  const [typed, setTyped] = useState(() => writeSum(wrote));
  const most = available > wrote ? available : wrote;
  return { most, typed, setTyped, sum: readSum(typed, { wrote }) };
}
