import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { PHONE } from '../testing/browser.ts';
import { ownStage } from '../testing/stage.ts';
import { newTill, paymentsOf, setShop } from '../testing/till.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../examples/fiscal-signer.mjs');

/** A private stage, because the signer applies to the whole account. */
const stage = ownStage();

/** Starts the example signer, for tills of this origin. */
async function startSigner(folder: string, origin: string, port = '0') {
  const env = {
    ...process.env,
    SIGNER_KEY: 'secret',
    SIGNER_FILE: path.join(folder, 'chain.jsonl'),
    SIGNER_ORIGIN: origin,
    EXAMPLE_PORT: port,
  };
  const child = spawn(process.execPath, [EXAMPLE], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const url = new URL(/http:\S+/.exec(String(line))?.[0] ?? '');
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { url, stop };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 200, 'it does not become true');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test('a till has its receipts signed by a signer that only it reaches', async () => {
  const { sandbox } = stage();
  const folder = await temporaryDataDir();
  const { origin } = new URL(sandbox.web_url);
  let signer = await startSigner(folder.path, origin);
  const { url } = signer;
  await setShop(sandbox, { fiscal_signer: { url: url.href, called_by: 'terminal' } });
  const { till, terminal } = await newTill(stage(), PHONE);
  const textOf = async (at: number) => {
    const sold = await paymentsOf(sandbox, terminal);
    return (await fetch(`${sold.at(at)?.receipt_url}.txt`)).text();
  };
  await till.sell('2.50');
  await till.newPayment.click();
  // With an empty keypad the till reloads itself, so that its policy allows the signer.
  await until(async () => /Signed as number 1$/m.test(await textOf(0)));

  // While the signer is stopped, the sale is paid, and its receipt states that it is not signed.
  await signer.stop();
  await till.sell('3.00');
  assert.match(await textOf(0), /Not signed/);
  signer = await startSigner(folder.path, origin, url.port);
  await until(async () => /Signed as number 2$/m.test(await textOf(0)));
  const verified = await (await fetch(new URL('/verify', url))).json();
  assert.deepEqual(verified, { entries: 2, first_broken: null });
  await till.close();
  await signer.stop();
  await folder.remove();
});
