import { randomInt } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { NAMES } from '#apis/dashboard/exports/export-kinds.ts';
import { selectAuditLogs } from '#audit/audit-queries.ts';
import { verifyAuditLog } from '#audit/verify-audit-log.ts';
import { STATEMENT_FORMATS } from '#books/statement-formats.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import { checkReceipt, type ReceiptClaims, receiptJsonUrl } from '#ops/check-receipt.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { parseJsonl } from '#testkit/fixtures/payments/books.ts';
import type { Invariant } from '#testkit/simulation/invariants/invariant.ts';

/** The files that an account can download, and those in the processes' data folders. */
export interface Files {
  readonly db: Sql;
  readonly accountId: string;
  /** A member of the account, signed in at each node. */
  readonly people: readonly PersonClient[];
  readonly chains: readonly Pick<NetworkConfig, 'network' | 'livemode' | 'rpcUrls'>[];
  readonly folders: readonly string[];
}

type Source = Files & { readonly config: Files['chains'][number] };

/**
 * Days before and after today to include, so that a statement covers everything even after a clock
 * was advanced.
 */
const MARGIN_DAYS = 5;
/** Number of receipts (the newest ones) to compare with the chain. Each takes six calls. */
const RECEIPTS = 40;
/** Number of receipts to read in every format. */
const PRINTED = 3;

/** The formats that have entries of less than a cent. */
const EXACT_FORMATS: ReadonlySet<string> = new Set(['csv', 'jsonl', 'camt.053.001.08']);
const CENT = 10_000;

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** @throws if the copies differ */
async function download({ people, accountId, config }: Source, file: string): Promise<string> {
  const mode = config.livemode ? 'live' : 'test';
  const answers = await Promise.all(
    people.map((person) => person.get(`/accounts/${accountId}/${mode}/${file}`)),
  );
  const texts = new Set(answers.map(({ text }) => text));
  const isWhole = answers.every(({ status }) => status === 200) && texts.size === 1;
  if (isWhole) return [...texts].join('');
  throw new Error(`${file} is ${answers.map(({ status, text }) => `${status} ${text.length}`)}`);
}

const parseLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/**
 * Compares a statement of the whole period with the ledger, and the formats of the statement with
 * each other.
 */
async function compareStatement(source: Source): Promise<string[]> {
  const { db, accountId, config } = source;
  const now = new Date();
  const from = dayOf(addMs(now, -MARGIN_DAYS * DAY_MS));
  const to = dayOf(addMs(now, MARGIN_DAYS * DAY_MS));
  const fileOf = (format: string) =>
    download(source, `exports/statement?format=${format}&from=${from}&to=${to}`);
  const { head, entries } = parseJsonl(await fileOf('jsonl'));
  const [ledger] = await db.query<{ balance: string; count: number }>(
    `select coalesce(sum(amount), 0)::text as balance, count(*)::int as count from (
       select account_id, livemode, amount from payments where not recovered
       union all select account_id, livemode, amount from balance_entries
     ) entries where account_id = $1 and livemode = $2`,
    [accountId, config.livemode],
  );
  const sum = entries.reduce((total, { amount }) => total + amount, head.opening_balance);
  const shown = `${entries.length} entries from ${head.opening_balance} to ${head.closing_balance}`;
  const broken: string[] = [];
  if (entries.length !== ledger?.count || String(head.closing_balance) !== ledger.balance) {
    broken.push(`${shown}, the ledger has ${ledger?.count} and ${ledger?.balance}`);
  }
  if (head.opening_balance !== 0 || sum !== head.closing_balance) {
    broken.push(`${shown}, which add up to ${sum}`);
  }
  if (new Set(entries.map(({ id }) => id)).size < entries.length) {
    broken.push(`${shown}, some twice`);
  }
  for (const format of STATEMENT_FORMATS) {
    // DATEV needs accounts, which these shops have not set.
    if (format === 'datev') continue;
    const text = await fileOf(format);
    const hasAll = EXACT_FORMATS.has(format);
    const expected = entries.filter(({ amount }) => hasAll || Math.abs(amount) >= CENT);
    const missing = expected.filter(({ id }) => !text.includes(id));
    if (missing.length > 0) broken.push(`${format} lacks ${missing.length}, ${missing[0]?.id}`);
  }
  return broken;
}

async function compareLists(source: Source): Promise<string[]> {
  const broken: string[] = [];
  for (const name of NAMES) {
    const rows = await source.db.query<{ key: string }>(
      `select id || ' ' || amount as key from ${name} where account_id = $1 and livemode = $2`,
      [source.accountId, source.config.livemode],
    );
    const lines = parseLines(await download(source, `exports/${name}?format=jsonl`));
    const listed = lines.map(({ id, amount }) => `${id} ${amount}`);
    const expected = rows.map(({ key }) => key);
    if (listed.toSorted().join() !== expected.toSorted().join()) {
      const lost = expected.find((key) => !listed.includes(key));
      broken.push(
        `${name} has ${listed.length} of ${expected.length}; the first lost one: ${lost}`,
      );
    }
  }
  return broken;
}

interface ReadyExport {
  readonly url: string;
  readonly format: string;
  readonly from: string;
  readonly to: string;
}

/** Compares the files behind public links with what a member exports for the same days. */
async function compareLinks(source: Source): Promise<string[]> {
  const { db, accountId, config } = source;
  const events = await db.query<{ body: string }>(
    `select body from events where account_id = $1 and livemode = $2 and type = 'export.ready'`,
    [accountId, config.livemode],
  );
  const broken: string[] = [];
  for (const { body } of events) {
    const { object } = (JSON.parse(body) as { data: { object: ReadyExport } }).data;
    const { url, format, from, to } = object;
    const response = await fetch(url);
    const text = await response.text();
    const exported = await download(
      source,
      `exports/statement?format=${format}&from=${from}&to=${to}`,
    );
    if (response.status !== 200 || text !== exported) {
      broken.push(`the link of ${from} answers ${response.status} with ${text.length} characters`);
    }
  }
  return broken;
}

/** Returns the formats of a receipt (except JSON) that are incomplete or lack its order number. */
async function brokenForms(url: string, order: string): Promise<string[]> {
  // Claims to come from a random address, which the service believes if it trusts this machine as a
  // proxy. Each address gets only 30 PDFs a minute.
  const headers = { 'X-Forwarded-For': `10.${[0, 0, 0].map(() => randomInt(256)).join('.')}` };
  const read = async (form: string) => (await fetch(`${url}.${form}`, { headers })).text();
  const [english, japanese, pdf] = [
    await read('txt?lang=en'),
    await read('txt?lang=ja'),
    await read('pdf?lang=en'),
  ];
  return [
    english.includes(order) ? [] : ['text'],
    japanese.includes(order) && japanese !== english ? [] : ['text in Japanese'],
    pdf.startsWith('%PDF-') && pdf.trimEnd().endsWith('%%EOF') ? [] : ['PDF'],
  ].flat();
}

async function compareReceipts(source: Source): Promise<string[]> {
  const payments = parseLines(await download(source, 'exports/payments?format=jsonl'));
  const rpcUrl = source.config.rpcUrls.at(-1) ?? '';
  const broken: string[] = [];
  for (const [position, { id, receipt_url }] of payments.slice(0, RECEIPTS).entries()) {
    const url = String(receipt_url);
    const response = await fetch(receiptJsonUrl(url) ?? url);
    if (response.status !== 200) {
      broken.push(`${id} has no receipt: ${response.status}`);
      continue;
    }
    const receipt = (await response.json()) as ReceiptClaims;
    const findings = await checkReceipt(receipt, rpcUrl);
    broken.push(...findings.flatMap(({ holds, what }) => (holds ? [] : [`${id}: ${what}`])));
    const forms = position < PRINTED ? await brokenForms(url, receipt.order_id) : [];
    if (forms.length > 0) broken.push(`${id}: its receipt as ${forms.join(', ')} is broken`);
  }
  return broken;
}

async function verifyAuditLogs({ db }: Files): Promise<string[]> {
  const logs = await selectAuditLogs(db);
  const reports = await Promise.all(logs.map((log) => verifyAuditLog(db, log)));
  return reports.flatMap((report) =>
    report.intact ? [] : [`${report.auditLog} at ${report.brokenAt}: ${report.reason}`],
  );
}

/**
 * Checks that a process that was killed while writing a file left either the old file or the
 * complete new one.
 */
async function checkFolders({ folders }: Files): Promise<string[]> {
  const broken: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      const file = path.join(entry.parentPath, entry.name);
      const result = await stat(file).catch(() => null);
      // A running process has meanwhile renamed its draft.
      if (result === null) continue;
      if ((result.mode & 0o077) !== 0) broken.push(`${file} is readable by others`);
      if (!file.endsWith('.json')) continue;
      try {
        JSON.parse(await readFile(file, 'utf8'));
      } catch {
        broken.push(`${file} is not whole`);
      }
    }
  }
  return broken;
}

/** Runs a comparison once for each network. */
function ofEachNetwork(compare: (source: Source) => Promise<string[]>) {
  return async (files: Files) => {
    const broken: string[] = [];
    for (const config of files.chains) {
      const result = await compare({ ...files, config });
      broken.push(...result.map((detail) => `${config.network}: ${detail}`));
    }
    return broken;
  };
}

export const FILE_INVARIANTS: readonly Invariant<Files>[] = [
  {
    promise: 'a statement closes with the balance of the ledger, in every format',
    check: ofEachNetwork(compareStatement),
  },
  { promise: 'an export contains every row once', check: ofEachNetwork(compareLists) },
  {
    promise: 'the link of a scheduled export opens the statement of its days',
    check: ofEachNetwork(compareLinks),
  },
  { promise: 'a receipt matches the chain', check: ofEachNetwork(compareReceipts) },
  { promise: 'every audit log is unbroken', check: verifyAuditLogs },
  { promise: 'the files of a process are complete and its own', check: checkFolders },
];
