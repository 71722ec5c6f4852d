import { type ReactNode, useState } from 'react';
import type { ReadOfflineRuleResponse } from '../../data/types/operator.ts';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Amount } from '../../ui/amount.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Status } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { useOperator, useRead } from '../use-operator.ts';
import { ReasonField } from './reason-field.tsx';

type Rule = ReadOfflineRuleResponse;
type Network = Rule['network'];

const NETWORKS: readonly Network[] = ['testnet', 'mainnet'];

export function OfflineRules(): ReactNode {
  return (
    <>
      <h2>Offline sales</h2>
      <p className="soft">
        Tills may keep selling while they have no connection, if their merchant allows it and bears
        the loss. You can forbid it or cap it; the merchants’ own limits stay as they are.
      </p>
      <div className="columns">
        {NETWORKS.map((network) => (
          <RuleCard key={network} network={network} />
        ))}
      </div>
    </>
  );
}

function RuleCard({ network }: { readonly network: Network }): ReactNode {
  const { mayChange } = useOperator();
  const query = useRead('GET /networks/{network}/offline', { path: { network } });
  return (
    <section className="card stack">
      <h3>{network}</h3>
      <Loaded query={query}>
        {(rule) => (
          <>
            <FactList>
              <Fact name="Offline sales">
                <Status tone={rule.allowed ? 'good' : 'bad'}>
                  {rule.allowed ? 'Allowed' : 'Forbidden'}
                </Status>
              </Fact>
              <Fact name="Highest sum of a sale">
                {rule.per_payment === null ? (
                  'As each merchant sets it'
                ) : (
                  <Amount atoms={BigInt(rule.per_payment)} />
                )}
              </Fact>
            </FactList>
            {mayChange ? (
              <div>
                <DialogButton
                  words={
                    <>
                      Change offline sales<span className="unseen"> of {network}</span>
                    </>
                  }
                >
                  {(close) => <RuleDialog rule={rule} onClose={close} />}
                </DialogButton>
              </div>
            ) : null}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface RuleDialogProps {
  readonly rule: Rule;
  readonly onClose: () => void;
}

function useRule({ rule, onClose }: RuleDialogProps) {
  const { network } = rule;
  const { call } = useOperator();
  const toast = useToast();
  const [allowed, setAllowed] = useState(rule.allowed);
  const [wrote] = useState(rule.per_payment === null ? null : BigInt(rule.per_payment));
  const [typed, setTyped] = useState(wrote === null ? '' : writeSum(wrote));
  const [reason, setReason] = useState('');
  const sending = useSend(['per_payment', 'reason']);
  const cap = readSum(typed, { wrote });
  const save = async () => {
    if (cap.is === 'refused') return;
    if (reason.trim() === '') return sending.refuse('reason', 'Enter a reason.');
    const atoms = sumIn(cap);
    const per_payment = atoms === null ? null : Number(atoms);
    const body = { allowed, per_payment, reason: reason.trim() };
    const saved = await sending.send(() =>
      call('PUT /networks/{network}/offline', { path: { network }, body }),
    );
    if (saved === null) return;
    toast('Saved.');
    onClose();
  };
  return { sending, save, allowed, setAllowed, cap, typed, setTyped, reason, setReason };
}

function RuleDialog(props: RuleDialogProps): ReactNode {
  const { rule, onClose } = props;
  const { sending, save, allowed, cap, reason, ...form } = useRule(props);
  return (
    <FormDialog
      title={`Offline sales of ${rule.network}`}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send="Change offline sales"
    >
      <Choice
        type="checkbox"
        name="allowed"
        value="allowed"
        label="Tills may sell offline"
        checked={allowed}
        onChange={form.setAllowed}
      />
      {allowed ? null : (
        <p className="soft">
          Tills stop at their next contact. Sales that they hold already are refused until you allow
          them again.
        </p>
      )}
      <SumField
        label="Highest sum of a sale"
        value={form.typed}
        sum={cap}
        shows
        onText={form.setTyped}
        hint="In USDC. Leave empty for no cap."
        error={sending.problemAt('per_payment')}
      />
      <ReasonField
        value={reason}
        onText={form.setReason}
        hint="For the audit log."
        sending={sending}
      />
    </FormDialog>
  );
}
