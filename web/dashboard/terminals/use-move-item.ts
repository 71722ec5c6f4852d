import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { CatalogueItemList } from '../../data/types/dashboard.ts';
import { useSend } from '../../desk/use-send.ts';
import { useMerchant } from '../use-merchant.ts';
import { positionAt, withMoved } from './catalog-order.ts';

export type CatalogItem = CatalogueItemList['data'][number];
export type Step = -1 | 1;

/** The item that was moved last, and its new index. */
interface Moved {
  readonly item: CatalogItem;
  readonly index: number;
}

/** Moves catalog items one at a time, so that quick clicks all take effect. */
export function useMoves() {
  const { call, scope } = useMerchant();
  const cache = useQueryClient();
  const sending = useSend();
  const queue = useRef<Promise<void>>(Promise.resolve());
  const [moved, setMoved] = useState<Moved | null>(null);
  const queryKey = [...scope, 'GET /accounts/{account}/{mode}/catalogue', null];
  const run = async (id: string, step: Step) => {
    const list = cache.getQueryData<CatalogueItemList>(queryKey);
    const from = list?.data.findIndex((item) => item.id === id) ?? -1;
    const item = list?.data[from];
    const index = from + step;
    if (list === undefined || item === undefined || list.data[index] === undefined) return;
    const position = positionAt(list.data.toSpliced(from, 1), index);
    const body = { version: item.version, position };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/catalogue/{item}', { path: { item: id }, body }),
    );
    if (saved === null) return;
    // Cancels the reads: a list that was read before the change would overwrite it.
    await cache.cancelQueries({ queryKey });
    cache.setQueryData(queryKey, { ...list, data: withMoved(list.data, saved) });
    setMoved({ item: saved, index });
  };
  const move = (id: string, step: Step) => {
    queue.current = queue.current.then(() => run(id, step));
  };
  return { move, moved, problem: sending.problem };
}
