import type { ReactNode } from 'react';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, useOpened } from '../../desk/concurrent-change.tsx';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { limitFact, type StoredLimit, useLimitField, useShopNow } from '../account/limit-field.tsx';
import { useMerchant } from '../use-merchant.ts';

interface TerminalProps {
  readonly terminal: DashboardTerminal;
}

function limitOf({ refund_limit, refund_limit_presentment }: DashboardTerminal): StoredLimit {
  return { atoms: refund_limit, presentment: refund_limit_presentment };
}

/** Shows how much a terminal may refund while nobody is signed in; admins can change it. */
export function RefundLimit({ terminal }: TerminalProps): ReactNode {
  const { may } = useMerchant();
  const shop = useShopNow();
  const isSet = terminal.refund_limit !== null;
  return (
    <section className="card stack">
      <h2>{t('dashboard.till_access.refund_limit')}</h2>
      <p>
        {isSet ? limitFact(limitOf(terminal), shop) : t('dashboard.terminal.refund_limit.none')}
      </p>
      {may('admin') ? (
        <div>
          <DialogButton words={t('dashboard.terminal.refund_limit.button')}>
            {(close) => <LimitDialog terminal={terminal} onClose={close} />}
          </DialogButton>
        </div>
      ) : null}
    </section>
  );
}

function LimitDialog({
  terminal,
  onClose,
}: TerminalProps & { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const stored = limitOf(terminal);
  const limit = useLimitField(stored);
  const { isStale } = useOpened(stored);
  const sending = useSend(['refund_limit']);
  const save = async () => {
    if (limit.input === undefined) return;
    if (limit.isUntouched) return onClose();
    const body = { version: terminal.version, refund_limit: limit.input };
    const path = { id: terminal.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/terminals/{id}', { path, body }),
    );
    if (saved !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.till_access.refund_limit')}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('desk.button.save')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <SumField
        data-name="Refund limit"
        label={t('dashboard.till_access.refund_limit')}
        {...limit.field}
        hint={t('dashboard.terminal.refund_limit.hint')}
        error={sending.problemAt('refund_limit')}
      />
    </FormDialog>
  );
}
