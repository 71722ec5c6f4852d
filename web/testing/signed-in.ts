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
export async function setUpFactor(section: Locator, password: string): Promise<string> {
  const { keyboard } = section.page();
  await section.getByLabel('Password').fill(password);
  await keyboard.press('Enter');
  const secret = await section.getByLabel('Key', { exact: true }).inputValue();
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await section.getByRole('textbox', { name: 'Authentication code' }).fill(code);
  await keyboard.press('Enter');
  const saved = section.getByRole('button', { name: 'I’ve saved them' });
  await saved.waitFor();
  const codes = await section.innerText();
  await saved.click();
  return codes;
}
