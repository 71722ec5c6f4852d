import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { refusalText } from '../../data/refusal-text.ts';
import type { Person, ShiftApi } from '../../data/shift-api.ts';
import type { Shift } from '../../data/types/device.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { plainText } from '../../ui/typed-sum.ts';

interface FormProps {
  /** The people who may sign in here. */
  readonly people: readonly Person[];
  /** The label of the button, and its English name for scripts. */
  readonly button: string;
  readonly 'data-name': string;
}

export interface PinFormProps extends FormProps {
  /** Sends the PIN. Resolves to the problem to show beside it; `null` for none. */
  readonly send: (person: Person, pin: string) => Promise<string | null>;
  /** The problem of an earlier try. */
  readonly problem?: string | null;
  /** True to show the list even if it has one person. */
  readonly chooses?: boolean;
}

export interface PersonFormProps extends FormProps {
  readonly api: ShiftApi;
  readonly onIn: (person: Person, shift: Shift) => void;
}

function problemOf(answer: Awaited<ReturnType<ShiftApi['start']>>): string | null {
  if (answer.is === 'done') return null;
  if (answer.is !== 'refused') return t('till.person.no_answer');
  const { code } = answer.error;
  if (code === 'pin_invalid') return t('till.person.pin_invalid');
  return code === 'rate_limit_exceeded' ? t('till.person.blocked') : refusalText(answer.error);
}

export function PersonForm({ api, onIn, ...form }: PersonFormProps): ReactNode {
  const send = async (person: Person, pin: string) => {
    const answer = await api.start(person.id, pin);
    if (answer.is === 'done') onIn(person, answer.value);
    return problemOf(answer);
  };
  return <PinForm {...form} send={send} />;
}

/** Asks for a person, unless there is only one, and a PIN. */
export function PinForm(props: PinFormProps): ReactNode {
  const { people, button, send, chooses = people.length !== 1 } = props;
  const [id, setId] = useState(people[0]?.id ?? '');
  const [pin, setPin] = useState('');
  const [problem, setProblem] = useState<string | null>(props.problem ?? null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const person = people.find((one) => one.id === id);
    if (busy || person === undefined) return;
    setBusy(true);
    const refused = await send(person, plainText(pin));
    setBusy(false);
    setPin('');
    setProblem(refused);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {chooses ? (
        <Select
          data-name="Person"
          label={t('till.person.label')}
          value={id}
          onChange={(event) => {
            setId(event.target.value);
            setProblem(null);
          }}
        >
          {people.map((person) => (
            <option key={person.id} value={person.id}>
              {named(person.name)}
            </option>
          ))}
        </Select>
      ) : (
        <p>
          <strong>{named(people[0]?.name ?? '')}</strong>
        </p>
      )}
      <TextField
        data-name="PIN"
        label={t('till.person.pin')}
        type="password"
        inputMode="numeric"
        autoComplete="off"
        value={pin}
        error={problem}
        onChange={(event) => {
          setPin(event.target.value);
          setProblem(null);
        }}
      />
      <Button data-name={props['data-name']} type="submit" kind="primary" large wide busy={busy}>
        {button}
      </Button>
    </form>
  );
}
