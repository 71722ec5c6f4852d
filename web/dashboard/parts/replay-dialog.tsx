import { type ReactNode, useState } from 'react';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { dayBefore, dayEnd, dayStart } from './days.ts';
import { useTimeZone } from './time-zone.ts';

/** Soon enough to see it move. */
const WATCH_MS = 1_000;

export interface ReplayDialogProps {
  readonly endpoint: string;
  readonly onClose: () => void;
}

/** After an outage of the receiver: every event of a span of days once more. */
export function ReplayDialog({ endpoint, onClose }: ReplayDialogProps): ReactNode {
  const { call } = useMerchant();
  const timeZone = useTimeZone();
  const [chosen, setFrom] = useState<string | null>(null);
  const from = chosen ?? dayBefore(1, timeZone);
  const [to, setTo] = useState('');
  const [replay, setReplay] = useState<string | null>(null);
  const sending = useSend(['since', 'until']);
  const start = async () => {
    const since = dayStart(from, timeZone);
    const until = dayEnd(to, timeZone);
    if (since === undefined) return sending.refuse('since', 'Choose the first day.');
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
    <Dialog title="Replay events" onClose={onClose}>
      <Form sending={sending} onSend={start} send="Replay events" onCancel={onClose}>
        <p>
          Each event of these days that the endpoint listens to is sent again, whether it was
          delivered or not. Your server recognizes duplicates by their ID.
        </p>
        <TextField
          label="From"
          type="date"
          value={from}
          onChange={(event) => setFrom(event.target.value)}
          hint={`In the time zone ${timeZone}. Events are kept for 30 days.`}
          error={sending.problemAt('since')}
        />
        <TextField
          label="To"
          type="date"
          value={to}
          onChange={(event) => setTo(event.target.value)}
          hint="Leave empty for up to now."
          error={sending.problemAt('until')}
        />
      </Form>
    </Dialog>
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
    <Dialog title="Replay events" onClose={onClose}>
      <Notice tone={isDone ? 'good' : 'info'} role="status">
        <strong>{isDone ? 'All events are queued' : 'Queueing…'}</strong>
        <p>{data?.events_queued ?? 0} events. This continues after you close it.</p>
      </Notice>
      <div className="row">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}
