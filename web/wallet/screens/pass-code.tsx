import { type ReactNode, useEffect, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { Pass, PassCode } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { t } from '../../ui/text/t.ts';
import { askOwner, asksEach } from '../passkey-per-payment.ts';
import { useResult } from '../payment-results.ts';
import { useHere } from '../wallet-context.tsx';
import { CountdownRing } from './countdown-ring.tsx';
import { PassFileButtons } from './pass-files.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { RotatingCode } from './rotating-code-view.tsx';
import { useChange } from './use-change.ts';

const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);

export interface PassCodeSheetProps {
  readonly pass: Pass;
  /** A code that a click on the home page has already created. */
  readonly made?: PassCode;
  readonly onClose: () => void;
}

/** Shows a code that pays once, within a minute, so that a photo of it soon becomes useless. */
export function PassCodeSheet({ pass, made, onClose }: PassCodeSheetProps): ReactNode {
  const { api, vault } = useHere();
  const { busy, problem, change } = useChange();
  const [refused, setRefused] = useState<string | null>(null);
  const [code, setCode] = useState<PassCode | null>(made ?? null);
  const [isOver, setIsOver] = useState(false);
  const left = () => (code === null ? 0 : Date.parse(code.expires_at) - api.now());
  useEffect(() => {
    if (code === null) return;
    const ms = Math.max(0, Date.parse(code.expires_at) - api.now());
    const timer = setTimeout(() => setIsOver(true), ms);
    return () => clearTimeout(timer);
  }, [code, api]);
  const ask = async () => {
    const wrong = asksEach(vault) ? await askOwner(vault) : null;
    setRefused(wrong);
    if (wrong !== null) return;
    const next = await change(() => api.createPassCode(pass.id));
    if (next === null) return;
    setCode(next);
    setIsOver(false);
  };
  // The code pays once, so it ends with the result.
  const result = useResult();
  useEffect(() => {
    if (result !== null) onClose();
  }, [result, onClose]);
  const isShown = code !== null && !isOver;
  return (
    <Dialog
      title={pass.label === '' ? t('wallet.code.heading') : named(pass.label)}
      onClose={onClose}
    >
      <p className="soft">{t('wallet.code.text')}</p>
      {isShown ? (
        <>
          <div className="pass-code">
            <Qr value={code.value} label={t('wallet.code.picture')} />
            <CountdownRing left={left} />
          </div>
          <CopyField label={t('wallet.code.value')} value={code.value} />
        </>
      ) : null}
      {isOver ? <p role="status">{t('wallet.code.expired')}</p> : null}
      <ProblemNotice problem={refused ?? problem} />
      {isShown ? null : (
        <Button kind="primary" large busy={busy} onClick={ask}>
          {t('wallet.code.new_button')}
        </Button>
      )}
      {isShown || asksEach(vault) ? null : <RotatingCode pass={pass} />}
      <PassFileButtons pass={pass} />
    </Dialog>
  );
}
