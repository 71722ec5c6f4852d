import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '../..');
const CALL = /\blog\??\.(?:info|warn|error)\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`([^`]*)`)/gi;
/** Lower bound that detects a search in the wrong place. */
const FEWEST_MESSAGES = 50;

async function messages(): Promise<Map<string, string>> {
  const results = new Map<string, string>();
  for await (const name of glob('src/**/*.ts', { cwd: ROOT })) {
    if (name.endsWith('.test.ts')) continue;
    const text = readFileSync(path.join(ROOT, name), 'utf8');
    for (const [, single, double, template = ''] of text.matchAll(CALL)) {
      results.set(single ?? double ?? template.replaceAll(/\$\{[^}]*\}/g, '…'), name);
    }
  }
  return results;
}

test('every log message is in the reference, and no other', async () => {
  const text = readFileSync(path.join(ROOT, 'docs/log.md'), 'utf8');
  const rows = [...text.matchAll(/^\| (`[^|]+`) \| (?:info|warn|error)/gm)];
  const told = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
  const reference = new Set(told.map(([, message]) => message ?? ''));
  const written = await messages();
  assert(written.size >= FEWEST_MESSAGES, `only ${written.size} messages were found`);
  const alarms = 'settlement alarm: …';
  for (const [message, file] of written) {
    const name = message.startsWith('settlement alarm: ') ? alarms : message;
    assert(reference.has(name), `docs/log.md lacks "${message}" of ${file}`);
  }
  const sources: string[] = [];
  for await (const name of glob('src/**/*.ts', { cwd: ROOT })) {
    sources.push(readFileSync(path.join(ROOT, name), 'utf8'));
  }
  const all = sources.join('\n');
  for (const message of reference) {
    // A message passed through a constant must appear literally in some source file.
    assert(
      written.has(message) || message === alarms || all.includes(`'${message}'`),
      `docs/log.md explains "${message}", which nothing writes`,
    );
  }
});

/** Texts for operators that quote messages: "the log says `a signer did not respond`". */
const RUNBOOKS = [
  'docs/alerts.md',
  'docs/operate.md',
  'docs/configure.md',
  'deploy/prometheus/tapline-rules.yml',
];
const QUOTE = /\b(?:log says|log line|logs|log for) `([^`]+)`/g;
/** Lower bound that detects runbooks whose quotes `QUOTE` does not match. */
const FEWEST_QUOTES = 6;

test('every log message that a runbook quotes is written by the service', async () => {
  const written = await messages();
  const quotes = RUNBOOKS.flatMap((name) => {
    const text = readFileSync(path.join(ROOT, name), 'utf8').replaceAll(/\s+/g, ' ');
    return [...text.matchAll(QUOTE)].map(([, message = '']) => ({ name, message }));
  });
  assert(quotes.length >= FEWEST_QUOTES, `only ${quotes.length} quotes were found`);
  for (const { name, message } of quotes) {
    assert(written.has(message), `${name} quotes "${message}", which nothing writes`);
  }
});
