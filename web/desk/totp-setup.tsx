import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyField } from '../ui/copy-field.tsx';
import { TextField } from '../ui/field.tsx';
import { partOf } from '../ui/lazy-part.ts';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import { CurrentPassword } from './current-password.tsx';
import { useDesk } from './desk-context.ts';
import { Form } from './form.tsx';
import { useSend } from './use-send.ts';
import { useTextForm } from './use-text-form.ts';

const Qr = partOf(async () => (await import('../ui/qr.tsx')).Qr);

interface Begun {
  readonly secret: string;
  readonly uri: string;
}

export interface TotpSetupProps {
  /** True if the user has no factor yet and must enter the password. */
  readonly asksPassword: boolean;
  /** Called when the app is set up and the recovery codes are saved. */
  readonly onDone: () => void;
  /** Called when the user skips the set-up. If absent, it cannot be skipped. */
  readonly onCancel?: (() => void) | undefined;
}

export function TotpSetup({ asksPassword, onDone, onCancel }: TotpSetupProps): ReactNode {
  const [begun, setBegun] = useState<Begun | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (codes !== null) return <RecoveryCodes codes={codes} onKept={onDone} />;
  if (begun === null) {
    return <Begin asksPassword={asksPassword} onBegun={setBegun} onCancel={onCancel} />;
  }
  return <FirstCode begun={begun} onConfirmed={setCodes} onCancel={onCancel} />;
}

interface BeginProps {
  readonly asksPassword: boolean;
  readonly onBegun: (begun: Begun) => void;
  readonly onCancel: (() => void) | undefined;
}

function Begin({ asksPassword, onBegun, onCancel }: BeginProps): ReactNode {
  const { people } = useDesk();
  const { texts, sending, field } = useTextForm({ current_password: '' });
  const begin = async () => {
    const body = asksPassword ? texts : {};
    const begun = await sending.send(() => people.call('POST /me/totp', { body }));
    if (begun !== null) onBegun(begun);
  };
  return (
    <Form sending={sending} onSend={begin} send={t('desk.button.continue')} onCancel={onCancel}>
      <p>{t('desk.totp.text')}</p>
      {asksPassword ? (
        <CurrentPassword hint={t('desk.field.password_hint')} {...field('current_password')} />
      ) : null}
    </Form>
  );
}

interface FirstCodeProps {
  readonly begun: Begun;
  readonly onConfirmed: (recoveryCodes: readonly string[]) => void;
  readonly onCancel: (() => void) | undefined;
}

function FirstCode({ begun, onConfirmed, onCancel }: FirstCodeProps): ReactNode {
  const { people } = useDesk();
  const { texts, sending, field } = useTextForm({ code: '' });
  const confirm = async () => {
    const body = { code: texts.code.replaceAll(' ', '') };
    const answer = await sending.send(() => people.call('POST /me/totp/confirm', { body }));
    if (answer !== null) onConfirmed(answer.recovery_codes);
  };
  return (
    <Form sending={sending} onSend={confirm} send={t('desk.button.confirm')} onCancel={onCancel}>
      <p>{t('desk.totp.scan')}</p>
      <Qr value={begun.uri} label={t('desk.totp.key_picture')} />
      <CopyField label={t('desk.totp.key')} value={begun.secret} />
      <TextField
        data-name="Authentication code"
        label={t('desk.field.authentication_code')}
        inputMode="numeric"
        autoComplete="one-time-code"
        hint={t('desk.totp.code_hint')}
        {...field('code')}
      />
    </Form>
  );
}

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onKept: () => void;
}

/** Shows the recovery codes, which cannot be shown again. */
export function RecoveryCodes({ codes, onKept }: RecoveryCodesProps): ReactNode {
  const { people } = useDesk();
  const sending = useSend();
  const kept = async () => {
    const done = await sending.send(() => people.call('POST /me/recovery_codes/saved'));
    if (done !== null) onKept();
  };
  return (
    <div className="stack">
      <Notice tone="warn">
        <strong>{t('desk.totp.codes.heading')}</strong>
        <p>{t('desk.totp.codes.text')}</p>
      </Notice>
      <CopyField label={t('desk.totp.codes.label')} value={codes.join(' ')} />
      <ul className="codes id">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      {sending.problem === null ? null : <Notice tone="bad">{sending.problem}</Notice>}
      <div className="row">
        <Button kind="primary" busy={sending.busy} onClick={kept}>
          {t('desk.totp.codes.saved')}
        </Button>
      </div>
    </div>
  );
}
