import type { ReactNode } from 'react';
import { Select } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';

/**
 * The formats of statements. They are named after standards and programs, so their names are not
 * translated.
 */
const FORMATS = {
  csv: 'CSV',
  jsonl: 'JSON Lines',
  'camt.053.001.08': 'ISO 20022 camt.053.001.08',
  datev: 'DATEV',
  xero: 'Xero',
  quickbooks: 'QuickBooks',
  ofx: 'OFX (GnuCash, HomeBank, Quicken)',
} as const;

export function FormatChoice(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <Select
      label={t('dashboard.books.format')}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {Object.entries(FORMATS).map(([format, name]) => (
        <option key={format} value={format} translate="no">
          {name}
        </option>
      ))}
    </Select>
  );
}
