import { type ReactNode, useEffect, useState } from 'react';
import { valueIn } from '../../data/api.ts';
import { fromRoot } from '../../data/root-path.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';

const ASK_EVERY_MS = 300;
/** Time-out for a registration, which takes seconds on a sandbox's chain. */
const LONGEST_MS = 20_000;

/**
 * Requests the sandbox's links. Only a sandbox returns them, and only to browsers on the same
 * machine.
 */
function useSandbox(): boolean {
  const [isSandbox, setIsSandbox] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    void fetch(fromRoot('sandbox-links'), { cache: 'no-store' }).then(
      ({ ok, body }) => {
        // Cancels the body: an unread body would keep its connection open as long as the page.
        void body?.cancel();
        if (isCurrent) setIsSandbox(ok);
      },
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return isSandbox;
}

function useOpenTill() {
  const { call } = useMerchant();
  const read = async () => valueIn(await call('GET /accounts/{account}/{mode}/go_live', {}));
  return async (): Promise<string> => {
    if (!(await read()).live) {
      await call('POST /accounts/{account}/{mode}/go_live/test_wallet', {});
      const until = Date.now() + LONGEST_MS;
      while (!(await read()).live && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      }
    }
    const [till] = valueIn(await call('GET /accounts/{account}/{mode}/terminals', {})).data;
    if (till === undefined) throw new Error('the account has no till');
    const path = { id: till.id };
    const made = await call('POST /accounts/{account}/{mode}/terminals/{id}/pairing_code', {
      path,
      body: { with_factor: false },
    });
    return fromRoot(`terminal#pair=${valueIn(made).code}&start`).href;
  };
}

export function OpenTestTill(): ReactNode {
  const isSandbox = useSandbox();
  const openTill = useOpenTill();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  if (!isSandbox) return null;
  const open = async () => {
    setBusy(true);
    // Opens the window in the click handler itself, because browsers block windows that open later.
    const till = window.open('about:blank', '_blank');
    try {
      const link = await openTill();
      if (till === null) location.assign(link);
      else till.location.replace(link);
    } catch {
      till?.close();
      setFailed(true);
    }
    setBusy(false);
  };
  return (
    <>
      <p className="soft">{t('dashboard.open_test_till.text')}</p>
      {failed ? (
        <Notice tone="bad" role="alert">
          <p>{t('dashboard.open_test_till.failed')}</p>
        </Notice>
      ) : null}
      <div className="row">
        <Button kind="primary" busy={busy} onClick={open}>
          {t('dashboard.open_test_till.open_a_test_till.button')}
        </Button>
      </div>
    </>
  );
}
