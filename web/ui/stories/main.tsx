import { type ReactNode, useState } from 'react';
import { Amount } from '../amount.tsx';
import { Button } from '../button.tsx';
import { Choice, Switch } from '../choice.tsx';
import { CopyField } from '../copy-field.tsx';
import { Dialog } from '../dialog.tsx';
import { EmptyState } from '../empty-state.tsx';
import { Select, TextField } from '../field.tsx';
import { mount } from '../mount.tsx';
import { Notice } from '../notice.tsx';
import { Qr } from '../qr.tsx';
import { Page, Shell } from '../shell.tsx';
import { Skeleton } from '../skeleton.tsx';
import { ObjectStatus, Status, type Tone } from '../status.tsx';
import { SumField } from '../sum-field.tsx';
import { Facts, Table } from '../table.tsx';
import { Time } from '../time.tsx';
import { useToast } from '../toast.tsx';
import { readSum } from '../typed-sum.ts';

/**
 * This page (`/dev/ui`) shows every component in every state, for visual review and for browser
 * tests.
 */

const LONG_NAME =
  'Конditorei & Café Zur schönen Aussicht am Fluß, Inhaber Wołodymyr Nguyễn-Smith 3';
const RIGHT_TO_LEFT = 'مقهى الباب الأزرق';
const TONES: readonly Tone[] = ['good', 'bad', 'warn', 'info', 'plain'];

function Story({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section className="card stack">
      <h2>{name}</h2>
      {children}
    </section>
  );
}

function Buttons(): ReactNode {
  const toast = useToast();
  const [open, setOpen] = useState(false);
  return (
    <Story name="Buttons, dialog, toast">
      <div className="row">
        <Button kind="primary">Charge</Button>
        <Button>Cancel payment</Button>
        <Button kind="danger">Refund 2.50 USDC</Button>
        <Button kind="quiet">New payment</Button>
        <Button kind="primary" busy>
          Pairing
        </Button>
        <Button disabled>Not now</Button>
        <Button kind="primary" large>
          Pay 2.51 USDC to {RIGHT_TO_LEFT}
        </Button>
      </div>
      <div className="row">
        <Button onClick={() => setOpen(true)}>Open the dialog</Button>
        <Button onClick={() => toast('The terminal was renamed.')}>Show a toast</Button>
      </div>
      {open ? (
        <Dialog title={`Refund a payment of ${LONG_NAME}`} onClose={() => setOpen(false)}>
          <p>The customer gets 2.50 USDC back to the wallet that paid.</p>
          <div className="row">
            <Button kind="danger" onClick={() => setOpen(false)}>
              Refund 2.50 USDC
            </Button>
            <Button onClick={() => setOpen(false)}>Keep pass</Button>
          </div>
        </Dialog>
      ) : null}
    </Story>
  );
}

/** Duration of this story's action, shorter than a double click. */
const QUICK_MS = 20;

function QuickAction(): ReactNode {
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  const act = () => {
    setBusy(true);
    setCount((before) => before + 1);
    setTimeout(() => setBusy(false), QUICK_MS);
  };
  return (
    <Story name="An action that ends at once">
      <div className="row">
        <Button busy={busy} onClick={act}>
          Send the event again
        </Button>
        <p role="status">Sent {count} times</p>
      </div>
    </Story>
  );
}

function Fields(): ReactNode {
  const [on, setOn] = useState(true);
  const [tip, setTip] = useState('10');
  const [sum, setSum] = useState('1,500');
  return (
    <Story name="Fields">
      <TextField label="Email" type="email" hint="Where receipts go." autoComplete="off" />
      <TextField label="Order" defaultValue="K7" error="That isn’t a valid order ID." />
      <SumField label="Amount" value={sum} onText={setSum} sum={readSum(sum)} shows />
      <Select label="Test pass">
        <option>ok</option>
        <option>insufficient_funds</option>
      </Select>
      <Switch label="Test mode" checked={on} onChange={setOn} />
      <fieldset className="row">
        <legend className="unseen">Tip</legend>
        {['10', '15', '20'].map((value) => (
          <Choice
            key={value}
            name="tip"
            value={value}
            label={`${value} %`}
            checked={tip === value}
            onChange={() => setTip(value)}
          />
        ))}
      </fieldset>
      <CopyField label="Pairing code" value="7KMP-3XWR" />
    </Story>
  );
}

function Words(): ReactNode {
  return (
    <Story name="Status, notices">
      <div className="row">
        {TONES.map((tone) => (
          <Status key={tone} tone={tone}>
            {tone}
          </Status>
        ))}
        <ObjectStatus status="partially_refunded" />
        <ObjectStatus status="a_status_of_tomorrow" />
      </div>
      {TONES.map((tone) => (
        <Notice key={tone} tone={tone}>
          <strong>Offline</strong>
          <p>The amount is kept. Nothing is charged until the connection is back.</p>
        </Notice>
      ))}
      <Skeleton />
      <Skeleton shape="rows" />
      <Skeleton shape="card" />
      <EmptyState title="No payments yet" action={<Button kind="primary">Take a payment</Button>}>
        Payments of all terminals are listed here, with what each one cost and earned.
      </EmptyState>
    </Story>
  );
}

const ROWS = [
  { id: 'pay_01QzXnyWbB0mJr6vGq2Lk9', atoms: 2_500_000n, who: LONG_NAME },
  { id: 'pay_01QzXnyWbB0mJr6vGq2Lk8', atoms: 999_999_999_999n, who: RIGHT_TO_LEFT },
  { id: 'pay_01QzXnyWbB0mJr6vGq2Lk7', atoms: 1n, who: 'Blue Door Café' },
];

function Data(): ReactNode {
  return (
    <Story name="Data">
      <Table
        label="Payments"
        rows={ROWS}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Payment', cell: ({ id }) => <a href={`dev/ui#${id}`}>{id}</a> },
          { name: 'Merchant', cell: ({ who }) => who },
          { name: 'Amount', number: true, cell: ({ atoms }) => <Amount atoms={atoms} /> },
          { name: 'Time', cell: () => <Time at="2026-11-20T18:58:53.000Z" timeZone="UTC" /> },
        ]}
      />
      <Facts
        facts={[
          ['Total', <Amount key="total" atoms={2_512_500n} />],
          ['Merchant', RIGHT_TO_LEFT],
          ['Transaction', <span key="id" className="id">{`0x${'9f'.repeat(32)}`}</span>],
          ['Nothing', null],
        ]}
      />
      <Qr value="https://pay.example.com/pay/0123456789abcdef" label="Pay with any wallet" />
    </Story>
  );
}

const PAGES = [
  { name: 'Components', path: 'dev/ui' },
  { name: 'Payments', path: 'dev/payments', opensGroup: true },
  { name: 'Request log', path: 'dev/request-log' },
];

mount(
  <Shell
    brand="Tapline"
    pages={PAGES}
    current="dev/ui"
    onNavigate={() => {}}
    foot="owner@demo.test"
  >
    <Page title="Components" actions={<Button kind="primary">Add terminal</Button>}>
      <Buttons />
      <QuickAction />
      <Fields />
      <Words />
      <Data />
    </Page>
  </Shell>,
);
