import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { CardChip, type CardSettings } from '#testkit/fixtures/core/card-chip.ts';
import type { TestBrowser, TestWindow } from './browser.ts';
import type { Stage } from './stage.ts';

/** A terminal that only one test uses, so that tests can share a sandbox. */
export interface TestTerminal {
  readonly id: string;
  readonly deviceKey: string;
  /** URL of its tag's page. */
  readonly tagUrl: string;
  /** Sets up the terminal's tag as a chip, and creates such a chip. */
  tagChip(): Promise<CardChip>;
  /** Creates a new pairing code. Using it revokes the current key. */
  pairingCode(): Promise<string>;
  /** Creates a code that lets the till make one refund above its own limit. */
  managerCode(): Promise<string>;
  /** Creates a code that removes a forgotten PIN. Afterwards the demo owner has a second factor. */
  openingCode(): Promise<string>;
  deactivate(): Promise<void>;
}

export async function signInOwner(sandbox: SandboxFile): Promise<PersonClient> {
  const person = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  const { status, text } = await person.post('/session', sandbox.dashboard);
  assert.ok(status < 300, text);
  return person;
}

export async function addTestTerminal(
  sandbox: SandboxFile,
  label = 'Counter of a test',
  mode: 'test' | 'live' = 'test',
): Promise<TestTerminal> {
  const person = await signInOwner(sandbox);
  const root = `/accounts/${sandbox.account}/${mode}/terminals`;
  const { body, text, status } = await person.post(root, { label });
  assert.equal(status, 201, text);
  const id = String(body.id);
  const makeCode = async (input: { readonly with_factor: boolean }) => {
    const made = await person.post(`${root}/${id}/pairing_code`, input);
    assert.equal(made.status, 201, made.text);
    return String(made.body.code);
  };
  return {
    id,
    deviceKey: String(body.device_key),
    tagUrl: String(body.tag_url),
    tagChip: async () => {
      const made = await person.post(`${root}/${id}/tag/chip`);
      assert.equal(made.status, 201, made.text);
      return new CardChip(made.body as unknown as CardSettings);
    },
    pairingCode: () => makeCode({ with_factor: false }),
    managerCode: async () => {
      const codes = `/accounts/${sandbox.account}/${mode}/manager_codes`;
      const made = await person.post(codes);
      assert.equal(made.status, 201, made.text);
      return String(made.body.code);
    },
    openingCode: async () => {
      await addFactorNow(person, sandbox.dashboard.password);
      return makeCode({ with_factor: true });
    },
    deactivate: async () => {
      const ended = await person.post(`${root}/${id}/deactivate`);
      assert.equal(ended.status, 200, ended.text);
    },
  };
}

export interface TillWindow extends TestWindow {
  readonly amount: Locator;
  readonly charge: Locator;
  readonly cancel: Locator;
  readonly newPayment: Locator;
  readonly testPass: Locator;
  /** Returns the result region once it shows this word. */
  result(word: string): Locator;
  /** Types the amount, clicks Charge, and waits for the screen that takes passes. */
  ask(amount: string): Promise<void>;
  /** Taps with a test pass that pays, and waits for `Paid`. */
  pay(): Promise<void>;
  /** Asks for the amount, which a test pass then pays. */
  sell(amount: string): Promise<void>;
}

export function tillOf(window: TestWindow): TillWindow {
  const { page } = window;
  const button = (name: RegExp) => page.getByRole('button', { name });
  const till: TillWindow = {
    ...window,
    amount: page.getByRole('textbox', { name: 'Amount' }),
    charge: button(/^Charge/),
    cancel: button(/^Cancel payment/),
    newPayment: button(/^New payment/),
    testPass: page.getByRole('combobox', { name: 'Test pass' }),
    result: (word: string) => resultIn(page, word),
    ask: async (amount) => {
      // A till with a catalogue opens on its items.
      const keypad = page.getByRole('link', { name: 'Keypad', exact: true });
      await keypad.waitFor();
      if (!(await till.amount.isVisible())) await keypad.click();
      await till.amount.fill(amount);
      await till.charge.click();
      await till.testPass.waitFor();
    },
    pay: async () => {
      await till.testPass.selectOption('ok');
      await till.result('Paid').waitFor();
    },
    sell: async (amount) => {
      await till.ask(amount);
      await till.pay();
    },
  };
  return till;
}

/** Returns a page's result region once it shows this word. */
export function resultIn(page: Page, word: string): Locator {
  return page
    .getByRole('status')
    .or(page.getByRole('alert'))
    .filter({ has: page.getByText(word, { exact: true }) });
}

/** How a till begins. */
interface Opening {
  /** Prepares the window before the till is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Starts the shift, if the account has cashiers with PINs. */
  readonly start?: (page: Page) => Promise<void>;
}

/** Opens a till whose shift has started. */
export async function openTill(
  browser: TestBrowser,
  sandbox: SandboxFile,
  {
    options,
    terminal,
    prepare = async () => {},
    start = (page) => page.getByRole('button', { name: /^Start shift/ }).click(),
  }: Opening & {
    readonly terminal: TestTerminal;
    readonly options?: BrowserContextOptions | undefined;
  },
): Promise<TillWindow> {
  const window = await browser.open(options);
  const { page } = window;
  await prepare(page);
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  await start(page);
  const till = tillOf(window);
  await page.getByRole('link', { name: 'Keypad', exact: true }).waitFor();
  return till;
}

/** A till with a terminal that only one test uses, and what such a test needs besides. */
export interface Counter extends Stage {
  readonly terminal: TestTerminal;
  readonly till: TillWindow;
  readonly page: Page;
}

export async function newTill(
  { sandbox, browser }: Stage,
  options?: BrowserContextOptions,
  { label, ...opening }: Opening & { readonly label?: string } = {},
): Promise<Counter> {
  const terminal = await addTestTerminal(sandbox, label);
  const till = await openTill(browser, sandbox, { ...opening, terminal, options });
  return { sandbox, browser, terminal, till, page: till.page };
}

type Listed = readonly Record<string, unknown>[];

export async function listAsMerchant(sandbox: SandboxFile, path: string): Promise<Listed> {
  const response = await fetch(`${sandbox.base_url}/v1${path}`, {
    headers: { Authorization: `Bearer ${sandbox.test.secret_key}` },
  });
  const { data } = (await response.json()) as { data?: Record<string, unknown>[] };
  return present(data, path);
}

/** Returns a terminal's intents as the API returns them, newest first. */
export function intentsOf(sandbox: SandboxFile, terminal: TestTerminal): Promise<Listed> {
  return listAsMerchant(sandbox, `/payment_intents?limit=100&terminal=${terminal.id}`);
}

/** Returns a terminal's payments from the ledger, newest first. */
export function paymentsOf(
  sandbox: SandboxFile,
  terminal: Pick<TestTerminal, 'id'>,
): Promise<Listed> {
  return listAsMerchant(sandbox, `/payments?limit=100&terminal=${terminal.id}`);
}

export async function terminalOf(
  sandbox: SandboxFile,
  { id }: TestTerminal,
): Promise<Record<string, unknown>> {
  const all = await listAsMerchant(sandbox, '/terminals?limit=100');
  return present(
    all.find((one) => one.id === id),
    id,
  );
}

/** Sends a POST request with the merchant's secret key. @returns the response body. */
export async function postAsMerchant(
  sandbox: SandboxFile,
  path: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${sandbox.base_url}/v1${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${sandbox.test.secret_key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, text);
  return JSON.parse(text);
}

/** Opens the customer display; afterwards, the till shows its settings. */
export async function openDisplay({ page, context }: TillWindow): Promise<Page> {
  await page.getByRole('link', { name: 'Settings' }).click();
  const opened = context.waitForEvent('page');
  await page.getByRole('switch', { name: 'Customer display' }).click();
  return opened;
}

/** Changes how the demo account prices its sales. Use it only in a private sandbox. */
export async function setShop(
  sandbox: SandboxFile,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  const person = await signInOwner(sandbox);
  const path = `/accounts/${sandbox.account}`;
  const { version } = (await person.get(path)).body;
  const { status, text } = await person.patch(path, { version, ...settings });
  assert.equal(status, 200, text);
}

export async function addCatalogueItem(
  sandbox: SandboxFile,
  item: Readonly<Record<string, unknown>>,
): Promise<void> {
  const person = await signInOwner(sandbox);
  const { status, text } = await person.post(`/accounts/${sandbox.account}/test/catalogue`, item);
  assert.equal(status, 201, text);
}
