import { partOf } from '../../ui/lazy-part.ts';
import { AcceptedScreen, AskingScreen } from './lazy-offline.ts';
import {
  KeyEnded,
  OfflineSales,
  Qr,
  SalesWait,
  ScanDialog,
  SplitDialog,
  TipScreen,
} from './lazy-parts.ts';

/**
 * Screens that an idle till does not show load later, so that the till opens sooner. The service
 * worker caches these files, so they also open offline.
 */
export const StartScreen = partOf(async () => (await import('./start.tsx')).StartScreen);
export const HistoryScreen = partOf(
  async () => (await import('./sales-history.tsx')).HistoryScreen,
);
export const CatalogueScreen = partOf(
  async () => (await import('./catalogue.tsx')).CatalogueScreen,
);
export const FindScreen = partOf(async () => (await import('./find-sale.tsx')).FindScreen);
export const SettingsScreen = partOf(async () => (await import('./settings.tsx')).SettingsScreen);
export const TotalsScreen = partOf(async () => (await import('./totals.tsx')).TotalsScreen);
export const LockScreen = partOf(async () => (await import('./lock.tsx')).LockScreen);
export const PaymentScreen = partOf(async () => (await import('./payment.tsx')).PaymentScreen);

/** Sends the till's state to the customer display, if there is one. */
export const DisplaySender = partOf(
  async () => (await import('./display-sender.ts')).DisplaySender,
);

/** All screens and parts in loading order: the screens of a payment come first. */
const ALL = [
  PaymentScreen,
  Qr,
  TipScreen,
  HistoryScreen,
  FindScreen,
  CatalogueScreen,
  SettingsScreen,
  TotalsScreen,
  LockScreen,
  SplitDialog,
  ScanDialog,
  DisplaySender,
  AskingScreen,
  AcceptedScreen,
  SalesWait,
  OfflineSales,
  KeyEnded,
];

/**
 * Loads all screens and parts, because a payment may begin at any moment, possibly without a
 * network. Fetches them as soon as the service worker can cache them or, without one, after the
 * first touch. A part that fails to load is fetched again when it is shown.
 */
export function loadParts(end: AbortSignal): void {
  const load = () => {
    for (const part of ALL) part.load().catch(() => {});
    const withSound = import('../sounds-and-vibration.ts');
    withSound.then(({ unlockSoundOnClick }) => unlockSoundOnClick(end)).catch(() => {});
  };
  const how = { once: true, capture: true, signal: end };
  window.addEventListener('pointerdown', load, how);
  window.addEventListener('keydown', load, how);
  // This never resolves without a service worker.
  void navigator.serviceWorker?.ready.then(load);
}
