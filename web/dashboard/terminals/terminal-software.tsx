import type { ReactNode } from 'react';
import type { DashboardTerminal } from '../../data/types/dashboard.ts';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { isBehind } from './outdated-software.ts';

/** The releases that are part of the service that serves this page. */
const RELEASES = {
  browser: String(import.meta.env.VITE_RELEASE),
  reader: String(import.meta.env.VITE_READER_RELEASE),
};

export function Software({ terminal }: { readonly terminal: DashboardTerminal }): ReactNode {
  const { platform, software_version: version } = terminal;
  return (
    <>
      {given(version === null ? platform : `${platform} ${version}`)}{' '}
      {isBehind(terminal, RELEASES) ? (
        <Status tone="warn">{t('dashboard.software.behind.status')}</Status>
      ) : null}
    </>
  );
}
