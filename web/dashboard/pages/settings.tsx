import { type ReactNode, useState } from 'react';
import { named } from '#core/isolates.ts';
import type { ReadAccountResponse } from '../../data/types/dashboard.ts';
import { Arrived } from '../../desk/arrived.tsx';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { OwnAccess } from '../../desk/own-access.tsx';
import { useSend } from '../../desk/send.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/stored-now.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { useToast } from '../../ui/toast.tsx';
import { readSum, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { useMerchant, useRead } from '../merchant.ts';
import { Brand } from '../parts/brand.tsx';
import { NewAccountForm } from '../parts/no-account.tsx';

export function Settings(): ReactNode {
  const query = useRead('GET /accounts/{account}');
  const { may, setAccount } = useMerchant();
  const [isOpening, setIsOpening] = useState(false);
  return (
    <Page title="Settings">
      <Arrived>
        <Loaded query={query}>
          {(account) => (
            <>
              <section className="card stack">
                <h2>Account</h2>
                <CopyField label="Account id" value={account.id} />
                {may('admin') ? (
                  <AccountForm account={account} />
                ) : (
                  <p className="soft">Only an admin or owner can change the account.</p>
                )}
              </section>
              <Brand name={account.name} />
            </>
          )}
        </Loaded>
        <OwnAccess />
        <section className="card stack">
          <h2>Another business</h2>
          <p className="soft">
            It has its own tills, keys and balance. Switch accounts in the navigation.
          </p>
          <div>
            <Button onClick={() => setIsOpening(true)}>Open another account</Button>
          </div>
        </section>
        {isOpening ? (
          <Dialog title="Another account" onClose={() => setIsOpening(false)}>
            <NewAccountForm
              onMade={(made) => {
                setAccount(made);
                setIsOpening(false);
              }}
              onCancel={() => setIsOpening(false)}
            />
          </Dialog>
        ) : null}
      </Arrived>
    </Page>
  );
}

/** What was typed as the daily limit and as the days of the window, or what is wrong with it. */
function readLimits(typed: { readonly days: string; readonly limit: TypedSum }) {
  const days = /^\d{1,4}$/.test(typed.days.trim()) ? Number(typed.days.trim()) : null;
  const { limit } = typed;
  const wrong = (field: string, words: string) => ({ wrong: [field, words] as const });
  if (days === null) return wrong('refund_window_days', 'Enter a number of days.');
  if (limit.is !== 'sum') return wrong('refund_daily_limit', 'Enter an amount such as 500.00.');
  return { wrong: null, days, limit: limit.units };
}

/** What the field for the daily limit holds. */
function useLimit(stored: bigint) {
  const [wrote] = useState(stored);
  const [value, onText] = useState(() => writeSum(wrote));
  return { value, onText, sum: readSum(value, { wrote }), shows: true };
}

const LIMIT_HINT = 'In USDC, for all keys and people together. A day is a UTC day.';

const NAME_WAITS = 'Saved. The network operator reviews the new name first.';

function AccountForm({ account }: { readonly account: ReadAccountResponse }): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const [opened, setOpened] = useState(account.version);
  const wished = account.requested_name ?? account.name;
  const [name, setName] = useState(wished);
  const [days, setDays] = useState(String(account.refund_window_days));
  const storedLimit = writeSum(BigInt(account.refund_daily_limit));
  const limit = useLimit(BigInt(account.refund_daily_limit));
  const [timeZone, setTimeZone] = useState(account.time_zone);
  const sending = useSend(['name', 'refund_window_days', 'refund_daily_limit', 'time_zone']);
  const isStale = opened !== account.version;
  const stored = (is: string, typed: string) => storedNow({ isStale, stored: is, typed });
  const save = async () => {
    const read = readLimits({ days, limit: limit.sum });
    if (read.wrong !== null) return sending.refuse(...read.wrong);
    const limits = { refund_window_days: read.days, refund_daily_limit: Number(read.limit) };
    const isRenamed = name.trim() !== wished;
    const texts = { ...(isRenamed && { name: name.trim() }), time_zone: timeZone.trim() };
    const body = { version: account.version, ...texts, ...limits };
    const saved = await sending.send(() => call('PATCH /accounts/{account}', { body }));
    if (saved === null) return;
    setOpened(saved.version);
    toast(saved.requested_name !== null && isRenamed ? NAME_WAITS : 'Saved.');
  };
  return (
    <Form sending={sending} onSend={save} send="Save">
      <ChangedMeanwhile isStale={isStale} />
      <TextField
        label="Name of the business"
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint={nameHint(account) ?? stored(account.name, name) ?? 'Customers see it when they pay.'}
        error={sending.problemAt('name')}
      />
      <TextField
        label="Refund window (days)"
        inputMode="numeric"
        value={days}
        onChange={(event) => setDays(event.target.value)}
        hint={stored(String(account.refund_window_days), days) ?? 'From the day of the sale.'}
        error={sending.problemAt('refund_window_days')}
      />
      <SumField
        label="Daily refund limit"
        {...limit}
        hint={stored(storedLimit, limit.value) ?? LIMIT_HINT}
        error={sending.problemAt('refund_daily_limit')}
      />
      <TimeZoneField
        value={timeZone}
        onChange={setTimeZone}
        stored={stored(account.time_zone, timeZone)}
        error={sending.problemAt('time_zone')}
      />
    </Form>
  );
}

/** A verified business keeps its name until somebody has looked at the new one. */
function nameHint({ name, requested_name: asked }: ReadAccountResponse): string | null {
  if (asked === null) return null;
  return `Customers see “${named(name)}” until the network operator accepts “${named(asked)}”.`;
}

interface TimeZoneFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What another has stored meanwhile. */
  readonly stored: ReturnType<typeof storedNow>;
  readonly error: ReturnType<ReturnType<typeof useSend>['problemAt']>;
}

function TimeZoneField(props: TimeZoneFieldProps): ReactNode {
  return (
    <>
      <TextField
        label="Time zone"
        list="time-zones"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        hint={props.stored ?? 'Such as Europe/Berlin. Figures and exports use its days.'}
        error={props.error}
      />
      <datalist id="time-zones">
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
