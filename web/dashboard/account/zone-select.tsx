import type { ReactNode } from 'react';
import { Select, type SelectProps } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';

/** Every time zone that can be set. */
export const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];

interface ZoneSelectProps extends Pick<SelectProps, 'hint' | 'error'> {
  readonly value: string;
  /** The words for no time zone (`''`), if none may be chosen. */
  readonly none?: string;
  readonly onZone: (zone: string) => void;
}

/** A list of time zones. It also has the chosen one if this browser does not know it. */
export function ZoneSelect({ value, none, onZone, ...rest }: ZoneSelectProps): ReactNode {
  const zones = value === '' || ZONES.includes(value) ? ZONES : [value, ...ZONES];
  return (
    <Select
      {...rest}
      data-name="Time zone"
      label={t('dashboard.settings.time_zone.label')}
      value={value}
      onChange={({ target }) => onZone(target.value)}
    >
      {none === undefined ? null : <option value="">{none}</option>}
      {zones.map((one) => (
        <option key={one} value={one} translate="no">
          {one}
        </option>
      ))}
    </Select>
  );
}
