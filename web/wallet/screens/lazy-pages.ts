import { createElement } from 'react';
import { firstPartOf, partOf } from '../../ui/lazy-part.ts';
import { BalancePlace, Waiting } from './loading.tsx';

const waiting = createElement(Waiting);

/** Parts that the home page does not show load on demand. The service worker also caches them. */
export const LimitsPage = partOf(async () => (await import('./limits.tsx')).LimitsPage, waiting);
export const SettingsPage = partOf(
  async () => (await import('./settings.tsx')).SettingsPage,
  waiting,
);
export const HistoryPage = partOf(
  async () => (await import('./history-page.tsx')).HistoryPage,
  waiting,
);
export const AllowSheet = partOf(async () => (await import('./allow-sheet.tsx')).AllowSheet);
export const ReceiveSheet = partOf(async () => (await import('./receive.tsx')).ReceiveSheet);
export const SendSheet = partOf(async () => (await import('./send.tsx')).SendSheet);
export const PaySheet = partOf(async () => (await import('./pay-sheet.tsx')).PaySheet);
export const ScanSheet = partOf(async () => (await import('./scan-sheet.tsx')).ScanSheet);
export const BalanceValue = partOf(
  async () => (await import('./balance-value.tsx')).BalanceValue,
  createElement(BalancePlace),
);
export const AgentsPage = partOf(async () => (await import('./agents.tsx')).AgentsPage, waiting);
export const PassesPage = partOf(async () => (await import('./passes.tsx')).PassesPage, waiting);
export const CardsPage = partOf(async () => (await import('./cards.tsx')).CardsPage, waiting);
export const PayOfflinePage = partOf(
  async () => (await import('./pay-offline.tsx')).PayOfflinePage,
  waiting,
);
export const TakeBackPage = partOf(
  async () => (await import('./revoke-approvals.tsx')).TakeBackPage,
  waiting,
);
// Its texts load with the page, because every screen shows these toasts. Otherwise they would load
// the texts of all other parts.
export const StaticPassToasts = firstPartOf(
  async () => (await import('./static-pass-toasts.tsx')).StaticPassToasts,
);
// Must appear at once, so their texts load with the page.
export const RingSheet = firstPartOf(async () => (await import('./ring-sheet.tsx')).RingSheet);
export const PaymentMoment = firstPartOf(
  async () => (await import('./payment-moment.tsx')).PaymentMoment,
);
export const WalletLock = partOf(async () => (await import('./lock.tsx')).WalletLock);
export const ContractsPage = partOf(
  async () => (await import('./contracts.tsx')).ContractsPage,
  waiting,
);
