import { type ReactNode, useEffect, useState } from 'react';
import type { Pass } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { t } from '../../ui/text/t.ts';
import { codeAt, STEP_MS } from '../compute-rotating-code.ts';
import { useHere } from '../wallet-context.tsx';
import { keep, kept, useKept } from '../wallet-storage.ts';
import { CountdownRing } from './countdown-ring.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);

/** Returns the current code, replaced when the next one is due. */
function useCode(key: string): string | null {
  const { api } = useHere();
  const [code, setCode] = useState<string | null>(null);
  useEffect(() => {
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = async () => {
      const now = api.now();
      const next = await codeAt(key, now);
      if (!isShown) return;
      setCode(next);
      timer = setTimeout(() => void show(), STEP_MS - (now % STEP_MS));
    };
    void show();
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [key, api]);
  return code;
}

function ShownCode({ pass, secret }: { readonly pass: Pass; readonly secret: string }): ReactNode {
  const { api } = useHere();
  const code = useCode(secret);
  if (code === null) return null;
  const value = `${pass.id}.${code}`;
  return (
    <>
      <div className="pass-code">
        <Qr value={value} label={t('wallet.changing_code.picture')} />
        <CountdownRing wholeMs={STEP_MS} left={() => STEP_MS - (api.now() % STEP_MS)} />
      </div>
      <CopyField label={t('wallet.changing_code.value')} value={value} />
      <p className="soft small">{t('wallet.changing_code.text')}</p>
    </>
  );
}

/** Shows a code that the phone computes without a connection. */
export function RotatingCode({ pass }: { readonly pass: Pass }): ReactNode {
  const { api } = useHere();
  const secret = useKept('rotatingKeys')[pass.id];
  const { busy, problem, change } = useChange();
  if (secret !== undefined) return <ShownCode pass={pass} secret={secret} />;
  const setUp = async () => {
    const made = await change(() => api.createRotatingKey(pass.id));
    if (made !== null) keep('rotatingKeys', { ...kept('rotatingKeys'), [pass.id]: made.key });
  };
  return (
    <>
      <ProblemNotice problem={problem} />
      <Button large busy={busy} onClick={setUp}>
        {t('wallet.changing_code.button')}
      </Button>
    </>
  );
}
