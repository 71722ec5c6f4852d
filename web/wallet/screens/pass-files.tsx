import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { valueIn } from '../../data/api.ts';
import { listNetworks, type Pass } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { useHere } from '../wallet-context.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

/** Saves a file through the browser, which may open it in another app. */
function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // Revokes the URL after a minute, when the browser has surely read the file.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Adds the pass to the phone's wallet app, if the operator issues such files. */
export function PassFileButtons({ pass }: { readonly pass: Pass }): ReactNode {
  const { api, network } = useHere();
  const networks = useQuery({
    queryKey: ['networks'],
    queryFn: async () => valueIn(await listNetworks()),
  });
  const { busy, problem, change } = useChange();
  const here = networks.data?.data.find((one) => one.network === network);
  const wallets = here?.pass_files ?? [];
  if (wallets.length === 0) return null;
  const addApple = async () => {
    const file = await change(() => api.applePass(pass.id));
    if (file !== null) save(file, 'tapline.pkpass');
  };
  const addGoogle = async () => {
    const link = await change(() => api.googlePass(pass.id));
    if (link !== null) location.assign(link.url);
  };
  return (
    <>
      <ProblemNotice problem={problem} />
      <div className="row">
        {wallets.includes('apple') ? (
          <Button busy={busy} onClick={addApple}>
            {t('wallet.code.apple_button')}
          </Button>
        ) : null}
        {wallets.includes('google') ? (
          <Button busy={busy} onClick={addGoogle}>
            {t('wallet.code.google_button')}
          </Button>
        ) : null}
      </div>
      <p className="soft small">{t('wallet.code.files_text')}</p>
    </>
  );
}
