import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { openBrowser, PHONE } from '../testing/browser.ts';
import { freePort } from '../testing/free-port.ts';
import { paymentsOf, tillOf } from '../testing/till.ts';

test('npm start -- --lan: a phone takes a payment over https, and gets no secret', async () => {
  const folder = await temporaryDataDir();
  // The following port is very likely free as well.
  const env = { PORT: await freePort(), RATE_LIMIT: '1000/1' };
  const network = await spawnNetwork({ dataDir: folder.path, args: ['--lan'], env });
  const browser = await openBrowser();
  // Waits for the warning. The sandbox prints it after writing the file that marks the sandbox as
  // ready.
  while (!/browser will warn/.test(network.logs())) await sleep(20);
  const [, url = ''] = /Wallet {10}(https:\S+)\/wallet/.exec(network.logs()) ?? [];
  assert.match(url, /^https:\/\/\d+\.\d+\.\d+\.\d+:\d+$/, network.logs());
  assert.match(network.logs(), /[▀▄█]{3}/, 'a QR code');

  // Ignores the certificate error, as a user does after reading the browser's warning.
  const window = await browser.open({ ...PHONE, ignoreHTTPSErrors: true });
  const { page } = window;
  await page.goto(url);
  await page.getByRole('heading', { name: 'Take payments with a tap' }).waitFor();
  assert.equal(await page.evaluate('isSecureContext && crypto.subtle !== undefined'), true);
  const told = await page.evaluate(`fetch('sandbox-links').then((answer) => answer.status)`);
  assert.equal(told, 404, 'keys and passwords stay on the machine');

  const { sandbox } = network;
  await page.goto(`${url}/terminal#key=${sandbox.test.device_key}`);
  await page.getByRole('button', { name: /^Start shift/ }).click();
  const till = tillOf(window);
  await till.ask('2.50');
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  const payments = await paymentsOf(sandbox, { id: sandbox.test.terminal });
  assert.equal(payments.length, 1);
  await window.close();
  await browser.close();
  assert.equal(await network.stop(), 0);
  await folder.remove();
});
