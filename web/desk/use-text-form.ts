import { type ChangeEvent, useState } from 'react';
import { type Sending, useSend } from './use-send.ts';

export interface TextForm<Name extends string> {
  readonly texts: Readonly<Record<Name, string>>;
  readonly sending: Sending;
  /** Returns the props of the field with this text. */
  field(name: Name): {
    readonly value: string;
    readonly onChange: (event: ChangeEvent<HTMLInputElement>) => void;
    readonly error: string | null;
  };
  set(changes: Partial<Record<Name, string>>): void;
}

/** @param first The texts at the beginning, by the fields' names in the API. */
export function useTextForm<Name extends string>(
  first: Readonly<Record<Name, string>>,
): TextForm<Name> {
  const [texts, setTexts] = useState(first);
  const sending = useSend(Object.keys(first));
  const set = (changes: Partial<Record<Name, string>>) =>
    setTexts((before) => ({ ...before, ...changes }));
  return {
    ...{ texts, sending, set },
    field: (name) => ({
      value: texts[name],
      onChange: ({ target }) => set({ [name]: target.value } as Partial<Record<Name, string>>),
      error: sending.problemAt(name),
    }),
  };
}
