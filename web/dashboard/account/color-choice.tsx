import { type CSSProperties, type ReactNode, useState } from 'react';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import './shop.css';

/** Colors that are easy to tell apart, on dark and on light backgrounds. */
const COLORS = {
  red: '#c9372c',
  orange: '#d9731a',
  yellow: '#d4a106',
  green: '#2e8b57',
  teal: '#1d8a99',
  blue: '#2f6fd0',
  purple: '#7d4fc4',
  brown: '#8a5a33',
} as const;

type Color = keyof typeof COLORS;
const NAMES = Object.keys(COLORS) as Color[];
/** Shown while no color is chosen, because a color field always has a value. */
const UNCHOSEN = '#808080';

/** Draws a color, or a sign for no color. Sets it through the DOM, which the page's CSP allows. */
export function Swatch({ color }: { readonly color: string | null }): ReactNode {
  const style = color === null ? undefined : ({ '--swatch': color } as CSSProperties);
  return <span className="swatch" style={style} aria-hidden="true" />;
}

interface OptionProps {
  readonly name: string;
  readonly color: string | null;
  readonly checked: boolean;
  readonly onChoose: () => void;
}

function Option({ name, color, checked, onChoose }: OptionProps): ReactNode {
  return (
    <label className="color-option">
      <input type="radio" name="color" checked={checked} onChange={onChoose} aria-label={name} />
      <Swatch color={color} />
    </label>
  );
}

export interface ColorChoiceProps {
  readonly color: string | null;
  readonly onColor: (color: string | null) => void;
  readonly error: string | null;
}

export function ColorChoice({ color, onColor, error }: ColorChoiceProps): ReactNode {
  const isListed = color === null || NAMES.some((name) => COLORS[name] === color);
  const [isOther, setIsOther] = useState(!isListed);
  const choose = (next: string | null) => {
    setIsOther(false);
    onColor(next);
  };
  return (
    <fieldset className="stack stack-tight">
      <legend>{t('dashboard.catalog.color.legend')}</legend>
      <div className="color-options">
        <Option
          name={t('dashboard.catalog.color.none')}
          color={null}
          checked={!isOther && color === null}
          onChoose={() => choose(null)}
        />
        {NAMES.map((name) => (
          <Option
            key={name}
            name={t(`dashboard.catalog.color.${name}`)}
            color={COLORS[name]}
            checked={!isOther && color === COLORS[name]}
            onChoose={() => choose(COLORS[name])}
          />
        ))}
        <label className="color-other">
          <input
            type="radio"
            name="color"
            checked={isOther}
            onChange={() => {
              setIsOther(true);
              onColor(color ?? UNCHOSEN);
            }}
          />
          <span>{t('dashboard.catalog.color.other')}</span>
        </label>
      </div>
      {isOther ? (
        <TextField
          label={t('dashboard.catalog.color.own')}
          type="color"
          value={color ?? UNCHOSEN}
          onChange={({ target }) => onColor(target.value)}
          error={error}
        />
      ) : null}
    </fieldset>
  );
}
