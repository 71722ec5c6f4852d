import { KEPT_MS } from '#cells/ask-home-cell.ts';
import { askCell, type CellSettings } from '#cells/ask-other-cells.ts';
import { deleteVisits, selectEndedVisits } from '#cells/visit-queries.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { addMs } from '#core/clock.ts';
import type { ProcessContext } from '#db/process-context.ts';

const POLL_MS = 500;
const PORTION = 500;

/**
 * Notifies other cells when an answer that they have cached is no longer valid, because a pass was
 * revoked or a payer blocked. If a notification is lost, the cached answer expires after a minute.
 */
export function startSendingEnds(ctx: ProcessContext, cells: CellSettings): Loop {
  return startLoop({
    name: 'notification of other cells',
    pollMs: POLL_MS,
    run: () => sendEnds(ctx, cells),
    onError: () => {},
  });
}

async function sendEnds({ db, clock }: ProcessContext, cells: CellSettings): Promise<boolean> {
  const since = addMs(clock.now(), -KEPT_MS);
  // Notify each cell separately, so that an unreachable one does not delay the others.
  const more = await Promise.all(
    cells.others.map(async (address) => {
      const { cell } = address;
      const presented = await selectEndedVisits(db, { cell, since, limit: PORTION });
      if (presented.length === 0) return false;
      const body = { presented: presented.map((one) => one.toString('hex')) };
      if ((await askCell(cells, address, { path: '/ends', body })) === null) return false;
      await deleteVisits(db, { cell, presented });
      return presented.length === PORTION;
    }),
  );
  return more.includes(true);
}
