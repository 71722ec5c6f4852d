import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { type SealedPin, SHORTEST_PIN, sealPin } from './pin.ts';
import { t } from './text/t.ts';

export interface PinFormProps {
  readonly title: string;
  readonly hint: string;
  readonly pin: SealedPin | null;
  readonly onChange: (pin: SealedPin | null) => void;
}

export function PinForm({ title, hint, pin, onChange }: PinFormProps): ReactNode {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (typed.length < SHORTEST_PIN) return setProblem(t('ui.pin_form.problem'));
    onChange(await sealPin(typed));
    setTyped('');
    setProblem(null);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <h2>{title}</h2>
      <TextField
        label={t(pin === null ? 'ui.pin_form.pin' : 'ui.pin_form.change')}
        type="password"
        inputMode="numeric"
        autoComplete="off"
        value={typed}
        error={problem}
        hint={hint}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className="row">
        <Button type="submit">{t('ui.pin_form.set_button')}</Button>
        {pin === null ? null : (
          <Button kind="quiet" onClick={() => onChange(null)}>
            {t('ui.pin_form.remove_button')}
          </Button>
        )}
      </div>
    </form>
  );
}
