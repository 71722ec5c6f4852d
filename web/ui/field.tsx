import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react';

interface Described {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The problem and its remedy, or `null`. */
  readonly error?: string | null;
}

function Field({
  id,
  label,
  hint,
  error,
  children,
}: Described & { readonly id: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {hint === undefined ? null : (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error == null ? null : (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function describedBy(id: string, { hint, error }: Described): string | undefined {
  const ids = [hint === undefined ? '' : `${id}-hint`, error == null ? '' : `${id}-error`];
  return ids.filter((one) => one !== '').join(' ') || undefined;
}

export type TextFieldProps = Described & InputHTMLAttributes<HTMLInputElement>;

export function TextField({ label, hint, error, ...rest }: TextFieldProps): ReactNode {
  const own = useId();
  const id = rest.id ?? own;
  const described: Described = { label, hint, error: error ?? null };
  return (
    <Field {...described} id={id}>
      <input
        className="input"
        {...rest}
        id={id}
        data-empty={rest.type === 'date' && rest.value === '' ? '' : undefined}
        aria-invalid={error != null}
        aria-describedby={describedBy(id, described)}
      />
    </Field>
  );
}

export type SelectProps = Described & SelectHTMLAttributes<HTMLSelectElement>;

/** A native select, which works with every keyboard, phone and screen reader. */
export function Select({ label, hint, error, children, ...rest }: SelectProps): ReactNode {
  const own = useId();
  const id = rest.id ?? own;
  const described: Described = { label, hint, error: error ?? null };
  return (
    <Field {...described} id={id}>
      <select
        className="input"
        {...rest}
        id={id}
        aria-invalid={error != null}
        aria-describedby={describedBy(id, described)}
      >
        {children}
      </select>
    </Field>
  );
}
