// A cash register that speaks ZVT, the interface between registers and bank terminals. Node.js 20
// or newer.
//
//   npm start                          in one window: the sandbox
//   node examples/register.mjs 12.50   in another one
//
// It starts `tapline-reader --zvt` at the sandbox's terminal, registers, asks for the amount in
// euros, and prints what the terminal sends. The customer is simulated: a test pass is tapped
// whenever the reader waits for one.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PORT = Number(process.env.ZVT_PORT ?? 20007);
const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const { device_key, terminal, passes } = sandbox.test;
const config = `${await mkdtemp(`${tmpdir()}/register-`)}/reader.json`;
const pairing = JSON.stringify({ server: sandbox.web_url, device_key, terminal });
await writeFile(config, pairing, { mode: 0o600 });
const bin = fileURLToPath(new URL('../reader/bin/tapline-reader.js', import.meta.url));
const args = [bin, '--config', config, '--zvt', String(PORT), '--json'];
const reader = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });

createInterface(reader.stdout).on('line', async (line) => {
  const { status, intent } = JSON.parse(line);
  if (status === 'waiting_for_register') await sell();
  if (status !== 'waiting') return;
  await fetch(`${sandbox.base_url}/device/v1/payment_intents/${intent}/tap`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${device_key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    },
    body: JSON.stringify({ credential: { type: 'nfc_id', value: passes.ok } }),
  });
});

/** Takes the first frame off what was received: a command, a length, data. */
function frameIn(bytes) {
  const isLong = bytes[2] === 0xff;
  if (bytes.length < (isLong ? 5 : 3)) return null;
  const from = isLong ? 5 : 3;
  const end = from + (isLong ? bytes.readUInt16LE(3) : bytes[2]);
  if (bytes.length < end) return null;
  return { command: bytes.readUInt16BE(0), data: bytes.subarray(from, end), end };
}

async function sell() {
  const cents = Math.round(Number(process.argv[2] ?? '12.50') * 100);
  const socket = connect(PORT, '127.0.0.1');
  const send = (hex) => socket.write(Buffer.from(hex, 'hex'));
  // Registration: password 000000; print lines and intermediate status, please; currency 978.
  send('0600060000008e0978');
  let received = Buffer.alloc(0);
  let isRegistered = false;
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    for (let frame = frameIn(received); frame !== null; frame = frameIn(received)) {
      const { command, data, end } = frame;
      received = received.subarray(end);
      // The register acknowledges what the terminal sends, except acknowledgments.
      if (command < 0x8000) send('800000');
      if (command === 0x04ff) console.log(data[0] === 0x0a ? 'Please tap.' : 'Please wait.');
      if (command === 0x040f) console.log(data[1] === 0 ? 'Paid.' : `Not paid: ${data[1]}.`);
      if (command === 0x06d1) console.log(`  | ${data.subarray(1).toString('latin1')}`);
      if (command === 0x061e) console.log(`Aborted: ${data[0]}.`);
      if (command !== 0x060f && command !== 0x061e) continue;
      if (isRegistered || command === 0x061e) socket.end();
      else send(`06010704${String(cents).padStart(12, '0')}`);
      isRegistered = true;
    }
  }
  reader.kill();
}
