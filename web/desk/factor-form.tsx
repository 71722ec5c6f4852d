import { type ReactNode, useEffect, useId } from 'react';
import { canUsePasskeys, signWithPasskey } from '../data/passkey.ts';
import type { PeopleApi, Session } from '../data/people-api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { Form } from './form.tsx';
import { PasskeyAddress } from './passkey-address.tsx';
import { useSend } from './use-send.ts';
import { useTextForm } from './use-text-form.ts';

export interface FactorFormProps {
  readonly people: PeopleApi;
  readonly factors: Session['user']['factors'];
  readonly send: string;
  /** The English name that scripts use to find that button. */
  readonly 'data-name'?: string;
  readonly onProven: (session: Session) => void;
  readonly onCancel?: () => void;
}

/** Proves the second factor with a passkey, offered first, or with a code. */
export function FactorForm(props: FactorFormProps): ReactNode {
  const { people, factors, send, onProven, onCancel, 'data-name': dataName } = props;
  const { texts, sending, field } = useTextForm({ code: '' });
  const id = useId();
  useEffect(() => document.getElementById(id)?.focus(), [id]);
  const withCode = async () => {
    const body = { code: texts.code.replaceAll(' ', '') };
    if (texts.code.trim() === '') return sending.refuse('code', t('desk.factor.code_missing'));
    const session = await sending.send(() => people.call('POST /session/second_factor', { body }));
    if (session !== null) onProven(session);
  };
  return (
    <div className="stack">
      {factors.passkeys > 0 && canUsePasskeys() ? (
        <PasskeyButton people={people} route="factor" onDone={onProven} />
      ) : null}
      {factors.passkeys > 0 && !canUsePasskeys() ? <PasskeyAddress /> : null}
      <Form {...{ sending, send, onCancel }} data-name={dataName} onSend={withCode}>
        <TextField
          data-name="Authentication code"
          label={t('desk.field.authentication_code')}
          name="code"
          autoComplete="one-time-code"
          id={id}
          hint={factors.totp ? t('desk.factor.code_hint') : t('desk.factor.recovery_code_hint')}
          {...field('code')}
        />
      </Form>
    </div>
  );
}

export interface PasskeyButtonProps {
  readonly people: PeopleApi;
  /** `sign_in`, or `factor` to prove the factor of a signed-in user. */
  readonly route: 'sign_in' | 'factor';
  readonly onDone: (session: Session) => void;
}

export function PasskeyButton({ people, route, onDone }: PasskeyButtonProps): ReactNode {
  const sending = useSend();
  const { call } = people;
  const use = async () => {
    const options = await sending.send(() =>
      route === 'sign_in'
        ? call('POST /session/passkey_options')
        : call('POST /session/second_factor/passkey_options'),
    );
    if (options === null) return;
    const response = await signWithPasskey(options);
    if (response === null) return;
    const body = { response: response as never };
    const session = await sending.send(() =>
      route === 'sign_in'
        ? call('POST /session/passkey', { body })
        : call('POST /session/second_factor/passkey', { body }),
    );
    if (session !== null) onDone(session);
  };
  return (
    <div className="stack stack-tight">
      <Button
        kind={route === 'factor' ? 'primary' : 'plain'}
        wide
        busy={sending.busy}
        onClick={use}
      >
        {t('desk.factor.passkey')}
      </Button>
      {sending.problem === null ? null : (
        <p className="field-error" role="alert">
          {sending.problem}
        </p>
      )}
    </div>
  );
}
