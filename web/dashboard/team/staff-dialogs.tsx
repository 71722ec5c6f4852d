import { type ReactNode, useState } from 'react';
import type { StaffMember } from '../../data/types/dashboard.ts';
import { ChangedMeanwhile, useOpened } from '../../desk/concurrent-change.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Choice } from '../../ui/choice.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { plainText } from '../../ui/typed-sum.ts';
import { useLimitField } from '../account/limit-field.tsx';
import { useMerchant } from '../use-merchant.ts';
import { pinWords } from './pin-words.ts';

type TillRole = StaffMember['role'];

export const TILL_ROLES: readonly TillRole[] = ['cashier', 'manager'];

interface PersonFields {
  readonly form: ReturnType<typeof useTextForm<'name' | 'pin' | 'role'>>;
  readonly pinHint: string;
}

function PersonFields({ form, pinHint }: PersonFields): ReactNode {
  const { texts, set, sending, field } = form;
  return (
    <>
      <TextField
        data-name="Name"
        label={t('desk.field.name')}
        autoComplete="off"
        dir="auto"
        {...field('name')}
      />
      <TextField
        data-name="PIN"
        label={t('dashboard.till_access.pin')}
        type="password"
        inputMode="numeric"
        autoComplete="new-password"
        hint={pinHint}
        {...field('pin')}
      />
      <Select
        data-name="Role"
        label={t('dashboard.field.role')}
        value={texts.role}
        hint={t('dashboard.staff.role_hint')}
        error={sending.problemAt('role')}
        onChange={(event) => set({ role: event.target.value })}
      >
        {TILL_ROLES.map((role) => (
          <option key={role} value={role}>
            {t(`dashboard.till_role.${role}`)}
          </option>
        ))}
      </Select>
    </>
  );
}

function fieldsOf(texts: Readonly<Record<'name' | 'pin' | 'role', string>>) {
  const role: TillRole = texts.role === 'manager' ? 'manager' : 'cashier';
  return { name: texts.name.trim(), pin: plainText(texts.pin), role };
}

export function AddPersonDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const form = useTextForm({ name: '', pin: '', role: 'cashier' });
  const { sending } = form;
  const add = async () => {
    const body = fieldsOf(form.texts);
    if (body.name === '') return sending.refuse('name', t('dashboard.staff.name_missing'));
    const problem = pinWords(body.pin, body.role);
    if (problem !== null) return sending.refuse('pin', problem);
    const added = await sending.send(() => call('POST /accounts/{account}/staff', { body }));
    if (added !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.staff.add.heading')}
      onClose={onClose}
      sending={sending}
      onSend={add}
      send={t('dashboard.staff.add')}
      data-name="Add person"
    >
      <PersonFields form={form} pinHint={t('dashboard.staff.pin_hint')} />
    </FormDialog>
  );
}

interface StaffDialogProps {
  readonly person: StaffMember;
  readonly onClose: () => void;
}

/** Sends the PIN first, because a new manager needs a longer one. */
function useChange({ person, onClose }: StaffDialogProps) {
  const { call } = useMerchant();
  const form = useTextForm({ name: person.name, pin: '', role: person.role });
  const limit = useLimitField({
    atoms: person.refund_limit,
    presentment: person.refund_limit_presentment,
  });
  const [mayDiscount, setMayDiscount] = useState(person.may_discount);
  const { sending } = form;
  const save = async () => {
    const { pin, ...rest } = fieldsOf(form.texts);
    const path = { id: person.id };
    if (limit.input === undefined) return;
    if (pin !== '') {
      const problem = pinWords(pin, rest.role);
      if (problem !== null) return sending.refuse('pin', problem);
      const route = 'PUT /accounts/{account}/staff/{id}/pin';
      if ((await sending.send(() => call(route, { path, body: { pin } }))) === null) return;
    }
    const body = {
      ...{ version: person.version, ...rest },
      ...(limit.isUntouched ? {} : { refund_limit: limit.input }),
      ...(mayDiscount === person.may_discount ? {} : { may_discount: mayDiscount }),
    };
    const route = 'PATCH /accounts/{account}/staff/{id}';
    if ((await sending.send(() => call(route, { path, body }))) !== null) onClose();
  };
  return { form, limit, mayDiscount, setMayDiscount, save };
}

export function ChangePersonDialog(props: StaffDialogProps): ReactNode {
  const { person, onClose } = props;
  const { isStale } = useOpened(person.version);
  const { form, limit, mayDiscount, setMayDiscount, save } = useChange(props);
  const { sending } = form;
  return (
    <FormDialog
      title={t('dashboard.staff.change.heading', { name: person.name })}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('desk.button.save')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <PersonFields form={form} pinHint={t('dashboard.staff.new_pin_hint')} />
      <SumField
        data-name="Refund limit"
        label={t('dashboard.till_access.refund_limit')}
        {...limit.field}
        hint={t('dashboard.staff.refund_limit_hint')}
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
    </FormDialog>
  );
}

export function RemovePersonDialog({ person, onClose }: StaffDialogProps): ReactNode {
  const { call } = useMerchant();
  const [erases, setErases] = useState(false);
  const query = { version: person.version, ...(erases ? { erase: true } : {}) };
  return (
    <ConfirmDialog
      title={t('dashboard.staff.remove.heading', { name: person.name })}
      send={t('dashboard.button.remove')}
      request={() =>
        call('DELETE /accounts/{account}/staff/{id}', { path: { id: person.id }, query })
      }
      onDone={onClose}
      onClose={onClose}
    >
      <p>{t('dashboard.staff.remove.text')}</p>
      <Choice
        type="checkbox"
        name="erase"
        value="yes"
        label={t('dashboard.staff.remove.erase')}
        checked={erases}
        onChange={setErases}
      />
    </ConfirmDialog>
  );
}
