import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { plainText } from '../../ui/typed-sum.ts';
import type { ChipPrompt } from './use-chip-asks.ts';

function PinForm({ asked }: { readonly asked: Extract<ChipPrompt, { for: 'pin' }> }): ReactNode {
  const [pin, setPin] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (pin !== '') asked.done(plainText(pin));
  };
  return (
    <form className="card stack" data-private="" onSubmit={submit} noValidate>
      <TextField
        label={t('till.chip.pin')}
        type="password"
        inputMode="numeric"
        autoComplete="off"
        autoFocus
        value={pin}
        hint={t('till.chip.pin_hint')}
        error={asked.wasWrong ? t('till.chip.problem.pin') : null}
        onChange={(event) => setPin(event.target.value)}
      />
      <Button type="submit" kind="primary" large>
        {t('till.chip.pin_button')}
      </Button>
      <Button kind="quiet" onClick={() => asked.done(null)}>
        {t('till.chip.skip_button')}
      </Button>
    </form>
  );
}

export function ChipAsksPart({ asked }: { readonly asked: ChipPrompt }): ReactNode {
  if (asked.for === 'pin') return <PinForm key={String(asked.wasWrong)} asked={asked} />;
  return (
    <div className="card stack">
      <p>{t('till.chip.hold_again')}</p>
      <Button kind="primary" large onClick={asked.done}>
        {t('till.chip.hold_again_button')}
      </Button>
    </div>
  );
}
