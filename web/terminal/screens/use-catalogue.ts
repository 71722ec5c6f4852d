import { useCallback, useEffect, useState } from 'react';
import type { CatalogueItem, DeviceApi } from '../../data/device-api.ts';
import { keepCatalogue, keptCatalogue } from '../till-storage.ts';

export interface Catalogue {
  /** The account's items in the order of the till; `null` until they were loaded once. */
  readonly items: readonly CatalogueItem[] | null;
  /** True if they could not be loaded now. The till then sells those that it loaded before. */
  readonly failed: boolean;
  readonly reload: () => void;
}

/**
 * Loads the items, and again when the connection returns or `moment` changes. This device keeps
 * them, so that it sells them offline after a reload, too.
 */
export function useCatalogue(api: DeviceApi, reached: boolean, moment: string): Catalogue {
  const [items, setItems] = useState(keptCatalogue);
  const [failed, setFailed] = useState(false);
  const [round, setRound] = useState(0);
  // The effect reads `moment` and `round` only so that their changes trigger another load.
  useEffect(() => {
    let isCurrent = round >= 0 && moment !== '';
    if (!reached) return;
    void api.catalogue().then((answer) => {
      if (!isCurrent) return;
      setFailed(answer.is !== 'done');
      if (answer.is !== 'done') return;
      keepCatalogue(answer.value.data);
      setItems(answer.value.data);
    });
    return () => {
      isCurrent = false;
    };
  }, [api, reached, moment, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { items, failed, reload };
}
