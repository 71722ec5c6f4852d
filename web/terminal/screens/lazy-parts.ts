import { partOf } from '../../ui/lazy-part.ts';

/** Parts of the till's screens that load later, like `lazy-screens.ts`. */
export const SplitDialog = partOf(async () => (await import('./split.tsx')).SplitDialog);
export const SplitBanner = partOf(async () => (await import('./split.tsx')).SplitBanner);
export const ScanDialog = partOf(async () => (await import('./scan.tsx')).ScanDialog);
export const TipScreen = partOf(async () => (await import('./tip.tsx')).TipScreen);
export const Counter = partOf(async () => (await import('../counter/virtual-counter.tsx')).Counter);
export const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);
export const SalesWait = partOf(async () => (await import('./offline-sales-left.tsx')).SalesWait);
export const SalesLeft = partOf(async () => (await import('./offline-sales-left.tsx')).SalesLeft);
export const OfflineSales = partOf(async () => (await import('./offline-sales.tsx')).OfflineSales);
export const ManagerDialog = partOf(
  async () => (await import('./manager-dialog.tsx')).ManagerDialog,
);
export const KeyEnded = partOf(async () => (await import('./till-notices.tsx')).KeyEnded);
export const NewVersion = partOf(async () => (await import('./till-notices.tsx')).NewVersion);
export const WhoIsIn = partOf(async () => (await import('./cashiers.tsx')).WhoIsIn);
