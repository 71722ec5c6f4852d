import type { BrowserContext } from 'playwright-core';
import type { TestWindow } from '../testing/browser.ts';
import { LONG_NAME, type Scene, type Shot } from '../testing/shots.ts';
import { signInAsStaff } from '../testing/staff.ts';

type Kept = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Staff prove a second factor once; the screens after the first go on in that session. */
let kept: Kept | null = null;

interface Stage extends Scene {
  readonly window: TestWindow;
  open(path: string, title: string): Promise<void>;
  /** Changes what the service says of a route. */
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
        await page.waitForLoadState('networkidle');
      };
      const change = async (route: string, changes: object) => {
        await page.route(`**/api/operator/v1${route}*`, async (asked) => {
          try {
            const response = await asked.fetch();
            await asked.fulfill({ response, json: { ...(await response.json()), ...changes } });
          } catch {
            await asked.abort().catch(() => {});
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

const PROPOSAL = {
  ...{ id: `prop_${'0'.repeat(22)}`, kind: 'change_rates', network: 'mainnet', subject: 'mainnet' },
  payload: { acquirer: 40, protocol: 20, cashback: 5 },
  ...{ reason: `Agreed with ${LONG_NAME}.`, status: 'open', proposed_by: 'nina@demo.test' },
  ...{ created: AT, expires_at: '2036-11-23T10:00:00.000Z' },
  ...{ decided_by: null, decided_at: null, decision_reason: null },
};

const RECOVERING = {
  ...{ network: 'mainnet', status: 'recovering', reason: 'incarnation', loss_shown: true },
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

const list = (row: object) => ({ data: [row], has_more: false, next_cursor: null });

export const SHOTS: readonly Shot[] = [
  pageShot('Needs you', ''),
  staffShot('needs-you', async ({ open, change }) => {
    await change('/alarms', list(ALARM));
    await change('/proposals', list(PROPOSAL));
    await open('', 'Needs you');
  }),
  ...(
    [
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
  staffShot('proposal', async ({ open, change, window: { page } }) => {
    await change('/proposals', list(PROPOSAL));
    await open('/contract', 'Contract');
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('dialog').waitFor();
  }),
  staffShot('rates', async ({ open, window: { page } }) => {
    await open('/contract', 'Contract');
    await page.getByRole('button', { name: /^Change rates/ }).click();
    await page.getByRole('dialog').waitFor();
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
