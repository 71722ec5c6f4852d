import type { ReactNode } from 'react';
import './choice.css';

export interface SwitchProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
  /** The English name that scripts use to find the control. */
  readonly 'data-name'?: string;
}

/** A switch that takes effect immediately, without a submit button. */
export function Switch(props: SwitchProps): ReactNode {
  const { label, checked, onChange, disabled = false, 'data-name': dataName } = props;
  return (
    <button
      data-name={dataName}
      type="button"
      role="switch"
      className="switch"
      aria-checked={checked}
      disabled={disabled}
      onClick={() => onChange(!checked)}
    >
      <span className="switch-track" aria-hidden="true" />
      {label}
    </button>
  );
}

export interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly label: ReactNode;
  readonly type?: 'radio' | 'checkbox';
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** One of several options, large enough for a finger. Group the options in a `fieldset`. */
export function Choice({ label, type = 'radio', onChange, ...rest }: ChoiceProps): ReactNode {
  return (
    <label className="choice">
      <input {...rest} type={type} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}
