import type { DeskShellPage } from '../desk/page-icon.tsx';
import { type Part, partOf } from '../ui/part.ts';

/** The pages of the navigation, in its order. Names are promised (behavior.md 21.3). */
export const PAGES: readonly DeskShellPage[] = [
  { name: 'Overview', icon: 'overview', path: 'dashboard' },
  { name: 'Payments', icon: 'payments', path: 'dashboard/payments', opensGroup: true },
  { name: 'Intents', icon: 'intents', path: 'dashboard/intents' },
  { name: 'Refunds', icon: 'refunds', path: 'dashboard/refunds' },
  { name: 'Balance', icon: 'balance', path: 'dashboard/balance' },
  { name: 'Terminals', icon: 'terminals', path: 'dashboard/terminals', opensGroup: true },
  { name: 'API keys', icon: 'keys', path: 'dashboard/api-keys' },
  { name: 'Webhooks', icon: 'webhooks', path: 'dashboard/webhooks' },
  { name: 'Events', icon: 'events', path: 'dashboard/events' },
  { name: 'Request log', icon: 'requests', path: 'dashboard/request-log' },
  { name: 'Team', icon: 'people', path: 'dashboard/team', opensGroup: true },
  { name: 'Settings', icon: 'settings', path: 'dashboard/settings' },
  { name: 'Verification', icon: 'verification', path: 'dashboard/verification' },
  { name: 'Risk rules', icon: 'risk', path: 'dashboard/risk-rules' },
  { name: 'Audit log', icon: 'audit', path: 'dashboard/audit-log' },
];

type DeskPage = Part<object>;

const Overview = partOf(async () => (await import('./pages/overview.tsx')).Overview);
const Payments = partOf(async () => (await import('./pages/payments.tsx')).Payments);
const PaymentPage = partOf(async () => (await import('./pages/payment.tsx')).PaymentPage);
const Intents = partOf(async () => (await import('./pages/intents.tsx')).Intents);
const IntentPage = partOf(async () => (await import('./pages/intent.tsx')).IntentPage);
const Refunds = partOf(async () => (await import('./pages/refunds.tsx')).Refunds);
const RefundPage = partOf(async () => (await import('./pages/refund.tsx')).RefundPage);
const Terminals = partOf(async () => (await import('./pages/terminals.tsx')).Terminals);
const TerminalPage = partOf(async () => (await import('./pages/terminal.tsx')).TerminalPage);
const ApiKeys = partOf(async () => (await import('./pages/api-keys.tsx')).ApiKeys);
const ApiKeyPage = partOf(async () => (await import('./pages/api-key.tsx')).ApiKeyPage);
const Webhooks = partOf(async () => (await import('./pages/webhooks.tsx')).Webhooks);
const WebhookPage = partOf(async () => (await import('./pages/webhook.tsx')).WebhookPage);
const DeliveryPage = partOf(async () => (await import('./pages/webhook.tsx')).DeliveryPage);
const Events = partOf(async () => (await import('./pages/events.tsx')).Events);
const EventPage = partOf(async () => (await import('./pages/events.tsx')).EventPage);
const RequestLog = partOf(async () => (await import('./pages/request-log.tsx')).RequestLog);
const RequestPage = partOf(async () => (await import('./pages/request-log.tsx')).RequestPage);
const Balance = partOf(async () => (await import('./pages/balance.tsx')).Balance);
const WithdrawalPage = partOf(async () => (await import('./pages/withdrawal.tsx')).WithdrawalPage);
const Team = partOf(async () => (await import('./pages/team.tsx')).Team);
const Settings = partOf(async () => (await import('./pages/settings.tsx')).Settings);
const Verification = partOf(async () => (await import('./pages/verification.tsx')).Verification);
const RiskRules = partOf(async () => (await import('./pages/risk-rules.tsx')).RiskRules);
const AuditLog = partOf(async () => (await import('./pages/audit-log.tsx')).AuditLog);

/** What stands at which address. */
export const ROUTES: readonly (readonly [path: string, page: DeskPage])[] = [
  ['/dashboard', Overview],
  ['/dashboard/payments', Payments],
  ['/dashboard/payments/:id', PaymentPage],
  ['/dashboard/intents', Intents],
  ['/dashboard/intents/:id', IntentPage],
  ['/dashboard/refunds', Refunds],
  ['/dashboard/refunds/:id', RefundPage],
  ['/dashboard/terminals', Terminals],
  ['/dashboard/terminals/:id', TerminalPage],
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
  ['/dashboard/settings', Settings],
  ['/dashboard/verification', Verification],
  ['/dashboard/risk-rules', RiskRules],
  ['/dashboard/audit-log', AuditLog],
];
