import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { openDevice, PHONE, type TestDevice } from '../browser.ts';
import {
  grantStorage,
  heldSales,
  offlineControls,
  startOfflineTill,
  toKeypad,
} from '../offline.ts';
import type { TestTerminal } from '../till.ts';
import type { OutageTill } from './till.ts';

/** Chromium writes local storage, which contains the pairing, up to 5 s later. */
const WRITTEN_MS = 10_000;
/** Time limit of a step at a till, on a machine whose processors are busy. */
const STEP_MS = 60_000;

async function open(folder: string): Promise<TestDevice> {
  const device = await openDevice(folder, PHONE);
  device.page.setDefaultTimeout(STEP_MS);
  await grantStorage(device);
  return device;
}

export interface BrowserTill extends OutageTill {
  /** Resolves once the till has noticed that the service does not respond. */
  seesOutage(): Promise<void>;
}

export interface BrowserTillPlace {
  readonly folder: string;
  readonly sandbox: SandboxFile;
  /** True while the line is cut. */
  readonly isCut: () => boolean;
}

/** Opens a till page in a separate browser, with its profile in this folder. */
export async function openBrowserTill(
  terminal: TestTerminal,
  { folder, sandbox, isCut }: BrowserTillPlace,
): Promise<BrowserTill> {
  let device = await open(folder);
  let till = await startOfflineTill(device, { sandbox, terminal });
  await till.page.waitForTimeout(WRITTEN_MS);
  const seesOutage = () => till.page.locator('[data-result="Offline"]').first().waitFor();
  return {
    terminal,
    // Slower than a till without a browser, because its page takes longer.
    paceMs: 2_000,
    request: async (amount) => {
      await toKeypad(till);
      return till.request((amount / 1e6).toFixed(2));
    },
    answer: async (text) => {
      await till.answer(text);
      await till.result('Accepted offline').waitFor();
    },
    seesOutage,
    restart: async () => {
      await device.kill();
      device = await open(folder);
      await device.page.goto(`${sandbox.web_url}/terminal`);
      till = offlineControls(device, terminal);
      await toKeypad(till);
      if (isCut()) await seesOutage();
    },
    sales: () => heldSales(till.page),
    close: () => device.close(),
  };
}
