import { Secret, TOTP } from 'otpauth';
import type { BrowserContextOptions, Locator } from 'playwright-core';
import type { TestWindow } from './browser.ts';
import { signInAt } from './desk.ts';
import type { Stage } from './stage.ts';

/** Opens a window in which the sandbox's user has signed in, at the requested page. */
export async function openSignedIn(
  { sandbox, browser }: Stage,
  path: string,
  options?: BrowserContextOptions,
): Promise<TestWindow> {
  const window = await browser.open(options);
  await signInAt(window, { sandbox, path });
  return window;
}

/**
 * Sets up an authenticator app where a page or a dialog asks for a second factor.
 * @returns the recovery codes as shown.
 */
export async function setUpFactor(place: Locator, password: string): Promise<string> {
  const { keyboard } = place.page();
  await place.getByLabel('Password').fill(password);
  await keyboard.press('Enter');
  const secret = await place.getByLabel('Key', { exact: true }).inputValue();
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await place.getByRole('textbox', { name: 'Authentication code' }).fill(code);
  await keyboard.press('Enter');
  const saved = place.getByRole('button', { name: 'I’ve saved them' });
  await saved.waitFor();
  const codes = await place.innerText();
  await saved.click();
  return codes;
}
