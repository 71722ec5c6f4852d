import type { DeskShellPage } from '../desk/page-icon.tsx';
import { type Part, partOf } from '../ui/lazy-part.ts';

/** The pages in navigation order. Their names are guaranteed (behavior.md 21.3). */
export const PAGES: readonly DeskShellPage[] = [
  { name: 'Action required', icon: 'inbox', path: 'operator' },
  { name: 'Overview', icon: 'events', path: 'operator/overview' },
  { name: 'Support', icon: 'support', path: 'operator/support' },
  { name: 'Verification', icon: 'verification', path: 'operator/verification', opensGroup: true },
  { name: 'Accounts', icon: 'account', path: 'operator/accounts' },
  { name: 'Payers', icon: 'people', path: 'operator/payers' },
  { name: 'Relayers', icon: 'relayers', path: 'operator/relayers', opensGroup: true },
  { name: 'Queues', icon: 'requests', path: 'operator/queues' },
  { name: 'Reconciliation', icon: 'scale', path: 'operator/reconciliation' },
  { name: 'Alarms', icon: 'alarms', path: 'operator/alarms' },
  { name: 'Contract', icon: 'contract', path: 'operator/contract' },
  { name: 'Audit log', icon: 'audit', path: 'operator/audit-log', opensGroup: true },
  { name: 'Settings', icon: 'settings', path: 'operator/settings' },
];

type DeskPage = Part<object>;

const ActionRequired = partOf(
  async () => (await import('./pages/action-required.tsx')).ActionRequired,
);
const Overview = partOf(async () => (await import('./pages/overview.tsx')).Overview);
const Support = partOf(async () => (await import('./pages/support.tsx')).Support);
const SupportPayment = partOf(
  async () => (await import('./pages/support-payment.tsx')).SupportPayment,
);
const Verification = partOf(async () => (await import('./pages/verification.tsx')).Verification);
const SubmissionPage = partOf(async () => (await import('./pages/submission.tsx')).SubmissionPage);
const Accounts = partOf(async () => (await import('./pages/accounts.tsx')).Accounts);
const AccountPage = partOf(async () => (await import('./pages/account.tsx')).AccountPage);
const Payers = partOf(async () => (await import('./pages/payers.tsx')).Payers);
const Relayers = partOf(async () => (await import('./pages/relayers.tsx')).Relayers);
const Queues = partOf(async () => (await import('./pages/queues.tsx')).Queues);
const Queue = partOf(async () => (await import('./pages/queue.tsx')).Queue);
const WaitingRequests = partOf(async () => (await import('./pages/queue.tsx')).WaitingRequests);
const Reconciliation = partOf(
  async () => (await import('./pages/reconciliation.tsx')).Reconciliation,
);
const Alarms = partOf(async () => (await import('./pages/alarms.tsx')).Alarms);
const Contract = partOf(async () => (await import('./pages/contract.tsx')).Contract);
const AuditLog = partOf(async () => (await import('./pages/audit-log.tsx')).AuditLog);
const Settings = partOf(async () => (await import('./pages/settings.tsx')).Settings);

export const ROUTES: readonly (readonly [path: string, page: DeskPage])[] = [
  ['/operator', ActionRequired],
  ['/operator/overview', Overview],
  ['/operator/support', Support],
  ['/operator/support/:id', SupportPayment],
  ['/operator/verification', Verification],
  ['/operator/verification/:id', SubmissionPage],
  ['/operator/accounts', Accounts],
  ['/operator/accounts/:id', AccountPage],
  ['/operator/payers', Payers],
  ['/operator/relayers', Relayers],
  ['/operator/queues', Queues],
  ['/operator/queues/entries', Queue],
  ['/operator/queues/chain', WaitingRequests],
  ['/operator/reconciliation', Reconciliation],
  ['/operator/alarms', Alarms],
  ['/operator/contract', Contract],
  ['/operator/audit-log', AuditLog],
  ['/operator/settings', Settings],
];
