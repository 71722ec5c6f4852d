import type { ReactNode } from 'react';
import {
  FilterBar,
  FilterSelect,
  type FilterSelectProps,
  type Filters,
  FilterText,
} from '../../desk/filters.tsx';
import { SavedFilters } from '../../desk/saved-filters.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';
import { useDays } from './chosen-days.ts';
import { presets } from './day-presets.ts';

/** The filters of a list by day: its own ones, the days, and named periods. */
export function ListFilters(props: {
  readonly filters: Filters;
  readonly children?: ReactNode;
}): ReactNode {
  const { filters, children } = props;
  return (
    <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
      {children}
      <DayFilters filters={filters} />
    </FilterBar>
  );
}

export function StatusFilter(props: Pick<FilterSelectProps, 'filters' | 'options'>): ReactNode {
  const [label, all] = [t('dashboard.field.status'), t('dashboard.filter.any')];
  return <FilterSelect {...props} name="status" label={label} all={all} />;
}

export function DayFilters({ filters }: { readonly filters: Filters }): ReactNode {
  const days = useDays(filters);
  // A named period fills in its days. Changing a day deselects the period.
  const fields: Filters = {
    ...filters,
    get: (name) => (name === 'from' || name === 'to' ? days[name] : filters.get(name)),
    set: (name, value) => {
      const { from = '', to = '' } = days;
      filters.setAll({ from, to, time: '', [name]: value });
    },
  };
  return (
    <>
      <FilterText
        filters={fields}
        name="from"
        label={t('dashboard.day_filters.from.label')}
        type="date"
      />
      <FilterText
        filters={fields}
        name="to"
        label={t('dashboard.day_filters.to.label')}
        type="date"
      />
    </>
  );
}

export function NamedFilters({ filters }: { readonly filters: Filters }): ReactNode {
  const scope = useMerchant().scope.join(' ');
  const chosen = filters.get('time');
  return (
    <>
      <fieldset className="presets">
        <legend className="unseen">{t('dashboard.day_filters.time.legend')}</legend>
        {presets().map(([name, words]) => (
          <button
            key={name}
            type="button"
            className="preset"
            aria-pressed={chosen === name}
            onClick={() => filters.setAll({ from: '', to: '', time: chosen === name ? '' : name })}
          >
            {words}
          </button>
        ))}
      </fieldset>
      <SavedFilters key={scope} scope={scope} />
    </>
  );
}
