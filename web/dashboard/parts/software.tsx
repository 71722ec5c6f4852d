import type { ReactNode } from 'react';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { Status } from '../../ui/status.tsx';
import { isBehind } from './behind.ts';

/** Of the service that this page came from: its tills are of the same release. */
const RELEASE: unknown = import.meta.env.VITE_RELEASE;

/** What runs on a terminal, in which version, and whether it lags. */
export function Software({ terminal }: { readonly terminal: DashboardTerminal }): ReactNode {
  const { platform, software_version: version } = terminal;
  return (
    <>
      {platform}
      {version === null ? null : ` ${version}`}{' '}
      {isBehind(terminal, String(RELEASE)) ? <Status tone="warn">Behind</Status> : null}
    </>
  );
}
