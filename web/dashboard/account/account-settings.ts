import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Account, UpdateAccountBody } from '../../data/types/dashboard.ts';
import { storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { readingOf } from '../../desk/use-reads.ts';
import { useSend } from '../../desk/use-send.ts';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { useMerchant } from '../use-merchant.ts';

export type { Account };
export type AccountChange = Omit<UpdateAccountBody, 'version'>;

export interface AccountProps {
  readonly account: Account;
}

/**
 * Returns a function that saves some of the account's settings under the version that the page
 * shows. It returns `null` if that failed.
 */
export function useSaveAccount(account: Account, fields: readonly string[]) {
  const merchant = useMerchant();
  const { call } = merchant;
  const cache = useQueryClient();
  const toast = useToast();
  const sending = useSend(fields);
  const save = async (change: AccountChange) => {
    const body = { version: account.version, ...change };
    const saved = await sending.send(() => call('PATCH /accounts/{account}', { body }));
    if (saved === null) return null;
    // Updates the cached version: until the account is read again, a quick second change would
    // conflict with the first.
    const { queryKey } = readingOf(merchant, { name: 'GET /accounts/{account}' });
    cache.setQueryData(queryKey, saved);
    toast(t('dashboard.settings.saved'));
    return saved;
  };
  return { sending, save };
}

interface FormOf<Values> {
  /** The fields' names in the API's errors. */
  readonly fields: readonly string[];
  readonly valuesOf: (account: Account) => Values;
  readonly changeOf: (values: Values) => AccountChange;
}

/** Holds a form for some of the account's settings, and sends only these. */
export function useSettingsForm<Values extends object>(account: Account, form: FormOf<Values>) {
  const { fields, valuesOf, changeOf } = form;
  const storedValues = valuesOf(account);
  const { isStale, setOpened } = useOpened(storedValues);
  const [values, setValues] = useState(storedValues);
  const { sending, save } = useSaveAccount(account, fields);
  const onSend = async () => {
    const saved = await save(changeOf(values));
    if (saved === null) return;
    setOpened(valuesOf(saved));
    setValues(valuesOf(saved));
  };
  return {
    ...{ values, isStale, sending, onSend },
    set: (change: Partial<Values>) => setValues({ ...values, ...change }),
    /** Returns the hint about another user's stored value of a field, see {@link storedNow}. */
    stored: (name: keyof Values, textOf: (value: Values[keyof Values]) => string = String) =>
      storedNow({ isStale, stored: textOf(storedValues[name]), typed: textOf(values[name]) }),
  };
}
