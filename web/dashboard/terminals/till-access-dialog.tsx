import { type ReactNode, useState } from 'react';
import type { ListMembersResponse } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/use-send.ts';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { plainText } from '../../ui/typed-sum.ts';
import { useLimitField } from '../account/limit-field.tsx';
import { pinWords } from '../team/pin-words.ts';
import { useMerchant } from '../use-merchant.ts';

type Member = ListMembersResponse['data'][number];

export interface TillAccessProps {
  readonly member: Member;
  readonly onClose: () => void;
}

export function TillAccess({ member, onClose }: TillAccessProps): ReactNode {
  const { may } = useMerchant();
  return (
    <Dialog title={t('dashboard.till_access.heading', { name: member.name })} onClose={onClose}>
      <Pin member={member} />
      {may('owner') ? <Rights member={member} /> : null}
      <Button onClick={onClose}>{t('dashboard.till_access.close_button')}</Button>
    </Dialog>
  );
}

function Pin({ member }: Pick<TillAccessProps, 'member'>): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const { texts, sending, field, set } = useTextForm({ pin: '' });
  const removing = useSend([]);
  const path = { user: member.user };
  const save = async () => {
    const pin = plainText(texts.pin);
    const problem = pinWords(pin, member.role);
    if (problem !== null) return sending.refuse('pin', problem);
    const route = 'PUT /accounts/{account}/members/{user}/pin';
    if ((await sending.send(() => call(route, { path, body: { pin } }))) === null) return;
    set({ pin: '' });
    toast(t('dashboard.till_access.pin_done'));
  };
  const remove = () =>
    removing.send(() => call('DELETE /accounts/{account}/members/{user}/pin', { path }));
  return (
    <>
      <Form
        sending={sending}
        onSend={save}
        data-name="Set PIN"
        send={t('dashboard.till_access.pin_button')}
      >
        <TextField
          data-name="PIN"
          label={t('dashboard.till_access.pin')}
          type="password"
          inputMode="numeric"
          autoComplete="new-password"
          hint={t(
            member.has_pin ? 'dashboard.till_access.pin_hint' : 'dashboard.till_access.no_pin_hint',
          )}
          {...field('pin')}
        />
      </Form>
      {member.has_pin ? (
        <div>
          <Button kind="danger-quiet" busy={removing.busy} onClick={() => void remove()}>
            {t('dashboard.till_access.remove_button')}
          </Button>
        </div>
      ) : null}
      {removing.problem === null ? null : <Notice tone="bad">{removing.problem}</Notice>}
    </>
  );
}

function Rights({ member }: Pick<TillAccessProps, 'member'>): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const mayHaveNone = member.role === 'owner' || member.role === 'admin';
  // For other roles, an empty field stands for 0.
  const isEmpty = !mayHaveNone && member.refund_limit === 0;
  const limit = useLimitField({
    atoms: isEmpty ? null : member.refund_limit,
    presentment: isEmpty ? null : member.refund_limit_presentment,
  });
  const [mayDiscount, setMayDiscount] = useState(member.may_discount);
  const [opened, setOpened] = useState(member.version);
  const sending = useSend(['refund_limit', 'may_discount']);
  const save = async () => {
    if (limit.input === undefined) return;
    const limits = limit.isUntouched
      ? {}
      : { refund_limit: limit.input ?? (mayHaveNone ? null : 0) };
    const body = { version: member.version, ...limits, may_discount: mayDiscount };
    const path = { user: member.user };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/members/{user}', { path, body }),
    );
    if (saved === null) return;
    setOpened(saved.version);
    toast(t('dashboard.till_access.rights_done'));
  };
  return (
    <Form
      sending={sending}
      onSend={save}
      data-name="Save permissions"
      send={t('dashboard.till_access.rights_button')}
    >
      <ChangedMeanwhile isStale={opened !== member.version} />
      <SumField
        data-name="Refund limit"
        label={t('dashboard.till_access.refund_limit')}
        {...limit.field}
        hint={t(`dashboard.till_access.${mayHaveNone ? 'lifting' : 'refund'}_limit_hint`)}
        error={sending.problemAt('refund_limit')}
      />
      <Choice
        type="checkbox"
        name="may_discount"
        value="yes"
        label={t('dashboard.till_access.may_discount')}
        checked={mayDiscount}
        onChange={setMayDiscount}
      />
    </Form>
  );
}
