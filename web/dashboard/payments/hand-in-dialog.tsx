import { type ReactNode, useState } from 'react';
import { batchesOf } from '../../data/forward-offline-payments.ts';
import type { ForwardedList, HandInOfflinePaymentsBody } from '../../data/types/dashboard.ts';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useEveryTerminal } from '../terminals/every-terminal.ts';
import { useMerchant } from '../use-merchant.ts';

type Records = HandInOfflinePaymentsBody['payments'];

/** Maximum size of a file, far more than a till ever stores. */
const MOST_BYTES = 5_000_000;

/**
 * Returns the records of a file that a till has saved: `{"payments": […]}`, or just the list. The
 * service checks each record.
 * @returns `null` if the file has no records.
 */
export function readRecords(text: string): Records | null {
  try {
    const read: unknown = JSON.parse(text);
    const list = Array.isArray(read) ? read : (read as { payments?: unknown } | null)?.payments;
    return Array.isArray(list) && list.length > 0 ? (list as Records) : null;
  } catch {
    return null;
  }
}

interface Counts {
  readonly processing: number;
  readonly succeeded: number;
  readonly bounced: number;
  /** Number of rejected records: from another shop or mode, or with a wrong signature. */
  readonly error: number;
  /** Number of records whose replaced online payment is still `processing`. */
  readonly undecided: number;
}

const NOTHING: Counts = { processing: 0, succeeded: 0, bounced: 0, error: 0, undecided: 0 };

function addCounts(counts: Counts, answer: ForwardedList): Counts {
  const all = { ...counts };
  for (const one of answer.data) {
    if (one.object !== 'error') all[one.status] += 1;
    else all[one.code === 'payment_intent_unexpected_state' ? 'undecided' : 'error'] += 1;
  }
  return all;
}

/** Sends the file's records. `result` is `null` until the service has accepted all of them. */
function useHandIn() {
  const { call } = useMerchant();
  const [terminal, setTerminal] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [result, setResult] = useState<Counts | null>(null);
  const sending = useSend(['terminal', 'file']);
  const handIn = async () => {
    if (terminal === '') return sending.refuse('terminal', t('dashboard.hand_in.terminal.missing'));
    const isWrong = file === null || file.size > MOST_BYTES;
    const records = isWrong ? null : readRecords(await file.text());
    if (records === null) return sending.refuse('file', t('dashboard.hand_in.file.invalid'));
    let counts = NOTHING;
    for (const payments of batchesOf(records, (record) => record)) {
      const answer = await sending.send(() =>
        call('POST /accounts/{account}/{mode}/terminals/{id}/offline_payments', {
          path: { id: terminal },
          body: { payments },
        }),
      );
      // Stops here. The user can submit the whole file again, because resending accepted records
      // does no harm.
      if (answer === null) return;
      counts = addCounts(counts, answer);
    }
    setResult(counts);
  };
  return { terminal, setTerminal, setFile, result, sending, handIn };
}

/** Submits a file that a till has saved because it can no longer forward its sales. */
export function HandInDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const terminals = useEveryTerminal();
  const { terminal, setTerminal, setFile, result, sending, handIn } = useHandIn();
  if (result !== null) return <Result counts={result} onClose={onClose} />;
  return (
    <Dialog title={t('dashboard.hand_in.heading')} onClose={onClose}>
      <p>{t('dashboard.hand_in.text')}</p>
      {terminals.error === null ? null : <Loaded query={terminals}>{() => null}</Loaded>}
      <Form
        sending={sending}
        onSend={handIn}
        send={t('dashboard.hand_in.button')}
        onCancel={onClose}
      >
        <Select
          label={t('dashboard.field.terminal')}
          value={terminal}
          onChange={(event) => setTerminal(event.target.value)}
          hint={t('dashboard.hand_in.terminal.hint')}
          error={sending.problemAt('terminal')}
          disabled={terminals.data === undefined}
        >
          <option value="">{t('dashboard.hand_in.terminal.choose')}</option>
          {terminals.data?.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
        <TextField
          label={t('dashboard.hand_in.file')}
          type="file"
          accept="application/json,.json"
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          error={sending.problemAt('file')}
        />
      </Form>
    </Dialog>
  );
}

interface ResultProps {
  readonly counts: Counts;
  readonly onClose: () => void;
}

function Result({ counts, onClose }: ResultProps): ReactNode {
  const { processing, succeeded, bounced, error, undecided } = counts;
  return (
    <Dialog title={t('dashboard.hand_in.heading')} onClose={onClose}>
      <div role="status" className="stack">
        <p>{t('dashboard.hand_in.done', { count: processing + succeeded + bounced })}</p>
        {bounced === 0 ? null : <p>{t('dashboard.hand_in.bounced', { count: bounced })}</p>}
        {error === 0 ? null : <p>{t('dashboard.hand_in.wrong', { count: error })}</p>}
        {undecided === 0 ? null : <p>{t('dashboard.hand_in.undecided', { count: undecided })}</p>}
      </div>
      <div>
        <Button kind="primary" onClick={onClose}>
          {t('desk.button.done')}
        </Button>
      </div>
    </Dialog>
  );
}
