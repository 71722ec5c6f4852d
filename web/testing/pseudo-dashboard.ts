import type { Locator } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { TestWindow } from './browser.ts';
import { TESTED_LANGUAGE } from './tested-language.ts';

/** Returns a control by its English name, which every language keeps (behavior.md 21). */
export function control({ page }: TestWindow, name: string): Locator {
  return page.locator(`[data-name="${name}"]`);
}

/** Signs in to a dashboard that uses the pseudo-language. */
export async function openPseudoDashboard(
  window: TestWindow,
  sandbox: SandboxFile,
  { onForm }: { readonly onForm?: () => Promise<void> } = {},
): Promise<void> {
  const url = sandbox.web_url;
  await window.context.addCookies([{ name: 'tapline_language', value: TESTED_LANGUAGE, url }]);
  await window.page.goto(`${url}/dashboard`);
  await control(window, 'Email').waitFor();
  await onForm?.();
  await control(window, 'Email').fill(sandbox.dashboard.email);
  await control(window, 'Password').fill(sandbox.dashboard.password);
  await control(window, 'Sign in').click();
  // Checks only that the button exists, because on a small screen it is at the end of the page.
  await control(window, 'Sign out').waitFor({ state: 'attached' });
}
