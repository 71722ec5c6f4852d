import type { DeskShellPage } from '../desk/page-icon.tsx';
import { firstPartOf, type Part, partOf } from '../ui/lazy-part.ts';
import { t } from '../ui/text/t.ts';
import { GROUPS, PAGES, PATHS, type PageKey, type PageName } from './page-names.ts';

export interface DashboardPage extends DeskShellPage {
  readonly key: PageKey;
}

export function pages(): readonly DashboardPage[] {
  return (Object.keys(PAGES) as PageName[]).map((name) => {
    const key = name.toLowerCase().replace(' ', '_') as PageKey;
    const group = GROUPS[name];
    return {
      'data-name': name,
      key,
      name: t(`dashboard.page.${key}`),
      icon: PAGES[name],
      path: PATHS[name] ?? `dashboard/${key.replace('_', '-')}`,
      opensGroup: group !== undefined && t(`dashboard.group.${group}`),
    };
  });
}

type DeskPage = Part<object>;

/** The landing page, so its texts load with the app. */
const Overview = firstPartOf(async () => (await import('./pages/overview.tsx')).Overview);
const Payments = partOf(async () => (await import('./pages/payments.tsx')).Payments);
const PaymentPage = partOf(async () => (await import('./pages/payments.tsx')).PaymentPage);
const Intents = partOf(async () => (await import('./pages/intents.tsx')).Intents);
const IntentPage = partOf(async () => (await import('./pages/intents.tsx')).IntentPage);
const Refunds = partOf(async () => (await import('./pages/refunds.tsx')).Refunds);
const RefundPage = partOf(async () => (await import('./pages/refunds.tsx')).RefundPage);
const Reports = partOf(async () => (await import('./pages/shifts.tsx')).Reports);
const Terminals = partOf(async () => (await import('./pages/terminals.tsx')).Terminals);
const TerminalPage = partOf(async () => (await import('./pages/terminals.tsx')).TerminalPage);
const OfflinePayments = partOf(
  async () => (await import('./pages/offline-payments.tsx')).OfflinePayments,
);
const OfflinePaymentPage = partOf(
  async () => (await import('./pages/offline-payments.tsx')).OfflinePaymentPage,
);
const Shifts = partOf(async () => (await import('./pages/shifts.tsx')).Shifts);
const ShiftPage = partOf(async () => (await import('./pages/shifts.tsx')).ShiftPage);
const Catalogue = partOf(async () => (await import('./pages/catalog.tsx')).Catalogue);
const ApiKeys = partOf(async () => (await import('./pages/api-keys.tsx')).ApiKeys);
const ApiKeyPage = partOf(async () => (await import('./pages/api-keys.tsx')).ApiKeyPage);
const Webhooks = partOf(async () => (await import('./pages/webhooks.tsx')).Webhooks);
const WebhookPage = partOf(async () => (await import('./pages/webhooks.tsx')).WebhookPage);
const DeliveryPage = partOf(async () => (await import('./pages/webhooks.tsx')).DeliveryPage);
const Events = partOf(async () => (await import('./pages/events.tsx')).Events);
const EventPage = partOf(async () => (await import('./pages/events.tsx')).EventPage);
const RequestLog = partOf(async () => (await import('./pages/request-log.tsx')).RequestLog);
const RequestPage = partOf(async () => (await import('./pages/request-log.tsx')).RequestPage);
const Balance = partOf(async () => (await import('./pages/balance.tsx')).Balance);
const WithdrawalPage = partOf(async () => (await import('./pages/balance.tsx')).WithdrawalPage);
const Team = partOf(async () => (await import('./pages/team.tsx')).Team);
const Staff = partOf(async () => (await import('./pages/team.tsx')).Staff);
const LocationsPage = partOf(async () => (await import('./pages/locations.tsx')).LocationsPage);
const Settings = partOf(async () => (await import('./pages/settings.tsx')).Settings);
const Verification = partOf(async () => (await import('./pages/verification.tsx')).Verification);
const RiskRules = partOf(async () => (await import('./pages/settings.tsx')).RiskRules);
const AuditLog = partOf(async () => (await import('./pages/audit-log.tsx')).AuditLog);

export const ROUTES: readonly (readonly [path: string, page: DeskPage])[] = [
  ['/dashboard', Overview],
  ['/dashboard/payments', Payments],
  ['/dashboard/payments/:id', PaymentPage],
  ['/dashboard/intents', Intents],
  ['/dashboard/intents/:id', IntentPage],
  ['/dashboard/refunds', Refunds],
  ['/dashboard/refunds/:id', RefundPage],
  ['/dashboard/reports', Reports],
  ['/dashboard/terminals', Terminals],
  ['/dashboard/terminals/:id', TerminalPage],
  ['/dashboard/offline-payments', OfflinePayments],
  ['/dashboard/offline-payments/:id', OfflinePaymentPage],
  ['/dashboard/shifts', Shifts],
  ['/dashboard/shifts/:id', ShiftPage],
  ['/dashboard/catalogue', Catalogue],
  ['/dashboard/api-keys', ApiKeys],
  ['/dashboard/api-keys/:id', ApiKeyPage],
  ['/dashboard/webhooks', Webhooks],
  ['/dashboard/webhooks/:id', WebhookPage],
  ['/dashboard/webhooks/:endpoint/:id', DeliveryPage],
  ['/dashboard/events', Events],
  ['/dashboard/events/:id', EventPage],
  ['/dashboard/request-log', RequestLog],
  ['/dashboard/request-log/:id', RequestPage],
  ['/dashboard/balance', Balance],
  ['/dashboard/withdrawals/:id', WithdrawalPage],
  ['/dashboard/team', Team],
  ['/dashboard/staff', Staff],
  ['/dashboard/locations', LocationsPage],
  ['/dashboard/settings', Settings],
  ['/dashboard/verification', Verification],
  ['/dashboard/risk-rules', RiskRules],
  ['/dashboard/audit-log', AuditLog],
];
