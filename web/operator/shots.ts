import type { BrowserContext } from 'playwright-core';
import type { TestWindow } from '../testing/browser.ts';
import { drawn } from '../testing/month.ts';
import { LONG_NAME, type Scene, type Shot } from '../testing/shots.ts';
import { signInAsStaff } from '../testing/staff.ts';

type Kept = Awaited<ReturnType<BrowserContext['storageState']>>;

/** The signed-in session. Staff prove a second factor once; later screens reuse it. */
let kept: Kept | null = null;

interface Stage extends Scene {
  readonly window: TestWindow;
  open(path: string, title: string): Promise<void>;
  /** Overrides the service's response to a route. */
  change(route: string, changes: object): Promise<void>;
}

function staffShot(name: string, lead: (stage: Stage) => Promise<void>): Shot {
  return {
    name,
    show: async (scene) => {
      const { sandbox, browser } = scene;
      const window = await browser.open(kept === null ? {} : { storageState: kept });
      if (kept === null) await signInAsStaff(window, { sandbox });
      const { page } = window;
      const open = async (path: string, title: string) => {
        await page.goto(`${sandbox.web_url}/operator${path}`);
        await page.getByRole('heading', { name: title, level: 1 }).waitFor();
        await window.idle();
      };
      const change = async (route: string, changes: object) => {
        await page.route(`**/api/operator/v1${route}*`, async (route) => {
          try {
            const response = await route.fetch();
            await route.fulfill({ response, json: { ...(await response.json()), ...changes } });
          } catch {
            await route.abort().catch(() => {});
          }
        });
      };
      await lead({ ...scene, window, open, change });
      kept = await window.context.storageState();
      return window;
    },
  };
}

function pageShot(title: string, path: string): Shot {
  return staffShot(path === '' ? 'needs-you-none' : path.slice(1), ({ open }) => open(path, title));
}

const AT = '2026-11-20T10:00:00.000Z';

const ALARM = {
  ...{ id: '7', network: 'mainnet', kind: 'durability', subject: 'database' },
  ...{ details: { standby: 'away', since: AT }, created: AT },
};

const ONE = 'https://one.pay.example';
const TWO = 'https://two.pay.example';

const PROPOSAL = {
  ...{ id: `prop_${'0'.repeat(22)}`, kind: 'change_rates', network: 'mainnet', subject: 'mainnet' },
  payload: { acquirer: 40, protocol: 20, cashback: 5 },
  ...{ reason: `Agreed with ${LONG_NAME}.`, status: 'open', proposed_by: 'nina@demo.test' },
  ...{ created: AT, expires_at: '2036-11-23T10:00:00.000Z' },
  ...{ decided_by: null, decided_at: null, decision_reason: null },
};

const RECOVERING = {
  ...{ network: 'mainnet', status: 'recovering', reason: 'cluster', loss_shown: true },
  ...{ from_block: '18200001', read_to: '18260000', head: '18300000', started: AT },
  ...{
    finished: null,
    payments: 1204,
    refunds: 12,
    withdrawals: 1,
    canceled: 40,
    credentials: 310,
  },
};

/** A network's day: quiet nights, a busy noon, and one hour in which some taps failed. */
function busyDay() {
  const end = Date.parse('2026-11-20T16:00:00.000Z');
  const figuresOf = (hour: number) => {
    const payments = Math.round(400 * Math.max(0, Math.sin(hour / 8)) * (0.7 + drawn(hour)));
    const none = payments === 0;
    return {
      ...{ payments, failed: hour === 15 ? 31 : Math.round(payments / 90) },
      volume: payments * 6_420_000,
      paid_ms_p50: none ? null : 640 + Math.round(300 * drawn(hour + 50)),
      paid_ms_p99: none ? null : 1_400 + Math.round(2_600 * drawn(hour + 90)),
      gas_per_payment: none ? null : 41_000 + Math.round(30_000 * drawn(hour + 7)),
    };
  };
  const data = Array.from({ length: 24 }, (_, hour) => {
    return { start: new Date(end - (24 - hour) * 3_600_000).toISOString(), ...figuresOf(hour) };
  });
  const total = { ...figuresOf(12), payments: 5_204, failed: 84, volume: 33_409_680_000 };
  return { data, total };
}

/** A scanned page of a company register, drawn with plain lines. */
const SCAN = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 800">
  <rect width="600" height="800" fill="#fff"/>
  <path d="M60 90h300M60 150h480M60 190h440M60 230h470M60 310h200" stroke="#555" stroke-width="12"/>
</svg>`;

const SUBMISSION = {
  ...{ status: 'pending', submitted_at: AT, decided_at: null, decision_reason: null },
  details: {
    ...{ legal_name: LONG_NAME, registration_number: 'HRB 12345 B', country: 'DE' },
    ...{ address: 'Uferweg 12, 10115 Berlin', website: 'https://cafe.example' },
    ...{ business: 'Coffee and cakes', representative: 'Wołodymyr Nguyễn-Smith' },
  },
  documents: [
    { kind: 'registration', file_name: 'Extract.png', content_type: 'image/png', size: 182_044 },
    { kind: 'identity', file_name: 'Passport.pdf', content_type: 'application/pdf', size: 4_911 },
  ].map((paper, index) => ({ ...paper, id: `doc_${index}`, sha256: String(index).repeat(64) })),
};

const list = (row: object) => ({ data: [row], has_more: false, next_cursor: null });

export const SHOTS: readonly Shot[] = [
  pageShot('Action required', ''),
  staffShot('needs-you', async ({ open, change }) => {
    await change('/alarms', list(ALARM));
    await change('/proposals', list(PROPOSAL));
    await open('', 'Action required');
  }),
  ...(
    [
      ['Overview', '/overview'],
      ['Verification', '/verification'],
      ['Accounts', '/accounts'],
      ['Payers', '/payers'],
      ['Relayers', '/relayers'],
      ['Queues', '/queues'],
      ['Reconciliation', '/reconciliation'],
      ['Alarms', '/alarms'],
      ['Contract', '/contract'],
      ['Audit log', '/audit-log'],
      ['Settings', '/settings'],
    ] as const
  ).map(([title, path]) => pageShot(title, path)),
  staffShot('overview-busy', async ({ open, change }) => {
    await change('/networks/mainnet/activity', busyDay());
    await open('/overview', 'Overview');
  }),
  staffShot('alarm-open', async ({ open, change, window: { page } }) => {
    await change('/alarms', list(ALARM));
    await open('/alarms', 'Alarms');
    await page.getByText('durability').first().click();
    await page.getByText(/Commits are less durable/).waitFor();
  }),
  staffShot('recovering', async ({ open, change }) => {
    await change('/recoveries', list(RECOVERING));
    await open('/reconciliation', 'Reconciliation');
  }),
  staffShot('contract-state', async ({ open, window: { page } }) => {
    await open('/contract', 'Contract');
    await page.getByText('On testnet now').click();
    await page.getByText('Watchtower').first().waitFor();
  }),
  staffShot('proposal', async ({ open, change, window: { page } }) => {
    await change('/proposals', list(PROPOSAL));
    await open('/contract', 'Contract');
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('dialog').waitFor();
  }),
  staffShot('proposals-decided', async ({ open, change }) => {
    const by = { decided_by: 'omar@demo.test', decided_at: AT };
    const data = [
      PROPOSAL,
      {
        ...PROPOSAL,
        ...by,
        id: 'prop_1',
        kind: 'pause',
        status: 'approved',
        decision_reason: 'Yes.',
      },
      {
        ...PROPOSAL,
        ...by,
        id: 'prop_2',
        status: 'rejected',
        decision_reason: 'Not before March.',
      },
      { ...PROPOSAL, id: 'prop_3', kind: 'unpause', expires_at: AT },
    ];
    await change('/proposals', { data, has_more: false, next_cursor: null });
    await open('/contract', 'Contract');
  }),
  staffShot('submission', async ({ open, change, sandbox, window: { page } }) => {
    await page.route('**/kyb/documents/*', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: SCAN }),
    );
    await change(`/accounts/${sandbox.account}/kyb`, { ...SUBMISSION, account: sandbox.account });
    await open(`/verification/${sandbox.account}`, 'Verification');
  }),
  staffShot('submission-second-pair', async ({ open, change, sandbox }) => {
    const { account } = sandbox;
    const proposal = { proposal: PROPOSAL.id, asked_by: 'nina@demo.test' };
    await change(`/accounts/${account}/kyb`, { ...SUBMISSION, ...proposal, account });
    await open(`/verification/${account}`, 'Verification');
  }),
  staffShot('new-name', async ({ open, change, sandbox, window: { page } }) => {
    const { account } = sandbox;
    await change(`/accounts/${account}`, { requested_name: LONG_NAME });
    await open(`/accounts/${account}`, 'Demo Coffee');
    await page.getByRole('button', { name: 'Approve name' }).click();
    await page.getByRole('dialog').waitFor();
  }),
  staffShot('new-names', async ({ open, change, sandbox: { account } }) => {
    const row = { account, name: 'Demo Coffee', requested_name: LONG_NAME, created: AT };
    await change('/name_requests', list(row));
    await open('/verification', 'Verification');
  }),
  staffShot('policy-wrong', async ({ open, window: { page } }) => {
    await open('/settings', 'Settings');
    const save = page.getByRole('button', { name: 'Save for testnet' });
    const form = page.locator('form').filter({ has: save });
    await form.getByLabel('Hours per period').fill('721');
    await save.click();
    await form.getByText('Enter whole hours, 1 to 720.').waitFor();
  }),
  staffShot('log-verified', async ({ open, window: { page } }) => {
    await open('/audit-log', 'Audit log');
    await page.getByRole('button', { name: 'Verify this log' }).click();
    await page.getByText('No entry was changed or removed').waitFor();
  }),
  staffShot('rates', async ({ open, window: { page } }) => {
    await open('/contract', 'Contract');
    await page.getByRole('button', { name: /^Change rates/ }).click();
    await page.getByRole('dialog').waitFor();
  }),
  staffShot('other-cells', async ({ open, change }) => {
    await change('/cells', {
      data: [
        { cell: 0, console_url: null, waiting: { alarms: 0, proposals: 0, verifications: 0 } },
        { cell: 1, console_url: ONE, waiting: { alarms: 2, proposals: 1, verifications: 14 } },
        { cell: 2, console_url: TWO, waiting: { alarms: 0, proposals: 0, verifications: 0 } },
        { cell: 3, console_url: null, waiting: null },
      ],
    });
    await open('', 'Action required');
  }),
  staffShot('found-elsewhere', async ({ open, change }) => {
    await change('/search', {
      data: [
        {
          ...{ cell: 1, console_url: ONE, kind: 'account', id: `acct_${'1'.repeat(22)}` },
          ...{ account: `acct_${'1'.repeat(22)}`, account_name: LONG_NAME, mode: null },
          ...{ status: 'active', amount: null, order_id: null, created: AT },
        },
      ],
    });
    await open('/support?text=owner%40demo.test', 'Support');
  }),
  staffShot('support', async ({ open, change }) => {
    await change('/session', { staff_role: 'support' });
    await open('/settings', 'Settings');
  }),
  {
    name: 'reset-password',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}/operator/reset-password`);
      await window.page.getByRole('button', { name: 'Send me a link' }).waitFor();
      return window;
    },
  },
];
