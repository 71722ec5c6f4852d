import type { ReactNode } from 'react';
import { FilterSelect, type Filters } from '../../desk/filters.tsx';
import { t } from '../../ui/text/t.ts';
import { useEveryTerminal } from './every-terminal.ts';

export function TerminalFilter({ filters }: { readonly filters: Filters }): ReactNode {
  const { data: terminals = [] } = useEveryTerminal();
  return (
    <FilterSelect
      filters={filters}
      name="terminal"
      label={t('dashboard.field.terminal')}
      all={t('dashboard.filter.all')}
      options={terminals}
    />
  );
}
