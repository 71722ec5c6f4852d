import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { present } from '#core/assert.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { collectorWithKey, readTap } from '../../reader/src/index.ts';
import { cryptogramOf } from '../../reader/src/protocols/vas.ts';
import { googlePhone } from '../../reader/test/emulated-phones.ts';

/**
 * An independent implementation as a reference: Google's unmodified sample reader (Apache-2.0)
 * reads our emulated phone. Needs Debian's `openjdk-17-jdk-headless`, `libbcprov-java` and
 * `libbcpkix-java`, and the sample in `TAPLINE_THIRD_PARTY`; without them the test is skipped with
 * that reason.
 */
const THIRD_PARTY =
  process.env.TAPLINE_THIRD_PARTY ?? path.join(import.meta.dirname, '../../../shared/third-party');
const SAMPLE = path.join(THIRD_PARTY, 'smart-tap-sample');
const TRACE = path.join(THIRD_PARTY, 'vas-trace.log');
const JARS = ['/usr/share/java/bcprov.jar', '/usr/share/java/bcpkix.jar'];
const OURS = path.join(import.meta.dirname, 'smart-tap');
const COLLECTOR_ID = 20_180_608;

const run = promisify(execFile);
const missing = [SAMPLE, '/usr/bin/javac', ...JARS].find((position) => !existsSync(position));
const skip = missing !== undefined && `${missing} is not there`;

function sampleKey() {
  const source = readFileSync(path.join(SAMPLE, 'NegotiateCryptoCommand.java'), 'utf8');
  const [pem] = /-----BEGIN[\s\S]*?END EC PRIVATE KEY-----/.exec(source) ?? [];
  const lines = present(pem, 'the key').replaceAll(/\\n"\s*\+\s*"/g, '\n');
  return createPrivateKey(lines);
}

test('Google’s sample reads our emulated phone, and so do we with its key', { skip }, async () => {
  const folder = testFolder();
  const classPath = JARS.join(':');
  const theirs = (await readdir(SAMPLE))
    .filter((name) => name.endsWith('.java') && name !== 'MainActivity.java')
    .map((name) => path.join(SAMPLE, name));
  const android = ['FormatException', 'NdefMessage', 'NdefRecord'].map((name) =>
    path.join(OURS, 'android/nfc', `${name}.java`),
  );
  const sources = [...theirs, ...android, path.join(OURS, 'Reading.java')];
  await run('javac', ['-nowarn', '-d', folder, '-cp', classPath, ...sources]);
  const key = sampleKey();
  const phone = googlePhone({
    collectorId: COLLECTOR_ID,
    collectorKey: key,
    value: 'redeem-me',
    object: 'ly',
  });
  const reader = spawn(
    '/usr/bin/java',
    ['-cp', `${folder}:${classPath}`, 'com.google.smarttapsample.Reading'],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let last = '';
  for await (const line of createInterface(reader.stdout)) {
    last = line;
    if (!/^[0-9a-f]+$/.test(line)) continue;
    const answer = await phone.transceive(Buffer.from(line, 'hex'));
    reader.stdin.write(`${Buffer.from(answer).toString('hex')}\n`);
  }
  assert.equal(last, 'AndroidPay redeem-me');
  assert.ok(phone.seen.signed, 'the phone checked the signature of the sample');

  const collector = collectorWithKey({ id: COLLECTOR_ID, keyVersion: 1, privateKey: key });
  const tap = await readTap(phone.transceive, { collector, passType: null });
  assert.ok(tap.status === 'read');
  const value = Buffer.from(tap.credential.value, 'base64url').subarray(33);
  assert.equal(value.toString('utf8'), 'redeem-me');
});

test('the response of a published VAS conversation is decoded', (t) => {
  if (!existsSync(TRACE)) return t.skip(`${TRACE} is not there`);
  const text = readFileSync(TRACE, 'utf8');
  const answer = /<-- .*data=(70[0-9a-f]+)\(/.exec(text)?.[1];
  const { keyId, deviceX, sealed } = cryptogramOf(Buffer.from(present(answer, 'answer'), 'hex'));
  assert.ok(
    text.includes(`device_key_id = cryptogram[:4] = ${Buffer.from(keyId).toString('hex')}`),
  );
  assert.ok(text.includes(`= ${Buffer.from(deviceX).toString('hex')}`));
  assert.ok(text.includes(`cryptogram[36:] = ${Buffer.from(sealed).toString('hex')}`));
});
