import { type ReactNode, useState } from 'react';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { useShopDays, useTimeZone } from '../account/time-zone.ts';
import { dayBefore, dayEnd, dayStart } from '../statistics/day-bounds.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

/** Polling interval, short enough to show progress. */
const WATCH_MS = 1_000;

export interface ReplayDialogProps {
  readonly endpoint: string;
  readonly onClose: () => void;
}

export function ReplayDialog({ endpoint, onClose }: ReplayDialogProps): ReactNode {
  const { call } = useMerchant();
  const shop = useShopDays();
  const timeZone = useTimeZone();
  const [chosen, setFrom] = useState<string | null>(null);
  const from = chosen ?? dayBefore(1, shop);
  const [to, setTo] = useState('');
  const [replay, setReplay] = useState<string | null>(null);
  const sending = useSend(['since', 'until']);
  const start = async () => {
    const since = dayStart(from, shop);
    const until = dayEnd(to, shop);
    if (since === undefined) return sending.refuse('since', t('dashboard.replay.from_missing'));
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/webhook_endpoints/{id}/replay', {
        path: { id: endpoint },
        body: { since, ...(until === undefined ? {} : { until }) },
      }),
    );
    if (made !== null) setReplay(made.id);
  };
  if (replay !== null) return <Progress replay={replay} onClose={onClose} />;
  return (
    <FormDialog
      title={t('dashboard.button.replay_events')}
      onClose={onClose}
      sending={sending}
      onSend={start}
      send={t('dashboard.button.replay_events')}
    >
      <p>{t('dashboard.replay.text')}</p>
      <TextField
        label={t('dashboard.replay_dialog.from.label')}
        type="date"
        value={from}
        onChange={(event) => setFrom(event.target.value)}
        hint={t('dashboard.replay.from_hint', { timeZone })}
        error={sending.problemAt('since')}
      />
      <TextField
        label={t('dashboard.replay_dialog.to.label')}
        type="date"
        value={to}
        onChange={(event) => setTo(event.target.value)}
        hint={t('dashboard.replay.to_hint')}
        error={sending.problemAt('until')}
      />
    </FormDialog>
  );
}

interface ProgressProps {
  readonly replay: string;
  readonly onClose: () => void;
}

function Progress({ replay, onClose }: ProgressProps): ReactNode {
  const { data } = useRead(
    'GET /accounts/{account}/{mode}/webhook_replays/{id}',
    { path: { id: replay } },
    { everyMs: WATCH_MS },
  );
  const isDone = data?.status === 'completed';
  return (
    <Dialog title={t('dashboard.button.replay_events')} onClose={onClose}>
      <Notice tone={isDone ? 'good' : 'info'} role="status">
        <strong>
          {isDone
            ? t('dashboard.replay_dialog.all_events_are_queued')
            : t('dashboard.replay_dialog.queueing')}
        </strong>
        <p>{t('dashboard.replay.queued_text', { count: data?.events_queued ?? 0 })}</p>
      </Notice>
      <div className="row">
        <Button onClick={onClose}>{t('desk.button.done')}</Button>
      </div>
    </Dialog>
  );
}
