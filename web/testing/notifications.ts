import type { Page } from 'playwright-core';

/** A public key with which an operator of Web Push would sign. */
export const PUSH_KEY =
  'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM';

/**
 * Simulates a permission prompt and its answer, because headless browsers refuse without a prompt.
 */
export async function letAsk(
  page: Page,
  permission: NotificationPermission = 'default',
): Promise<void> {
  await page.addInitScript((first) => {
    let present = first;
    Object.defineProperty(Notification, 'permission', { get: () => present });
    Notification.requestPermission = async () => {
      present = 'granted';
      return present;
    };
  }, permission);
}
