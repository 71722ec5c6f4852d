import { type ReactNode, useState } from 'react';
import { ActionButton } from '../../desk/action-button.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { useMerchant } from '../use-merchant.ts';

interface Code {
  readonly code: string;
  readonly expires_at: string;
}

/** Creates a code that lets a till make one refund above its own limit. */
export function ManagerCode(): ReactNode {
  const { call } = useMerchant();
  const [made, setMade] = useState<Code | null>(null);
  return (
    <>
      <ActionButton
        request={() => call('POST /accounts/{account}/{mode}/manager_codes', {})}
        onDone={setMade}
      >
        {t('dashboard.manager_code.button')}
      </ActionButton>
      {made === null ? null : (
        <ShownOnce
          title={t('dashboard.manager_code.heading')}
          label={t('dashboard.manager_code.label')}
          secret={made.code}
          onClose={() => setMade(null)}
        >
          <p className="soft">
            {rich('dashboard.manager_code.text', {
              time: () => <Time at={made.expires_at} shape="clock" />,
            })}
          </p>
        </ShownOnce>
      )}
    </>
  );
}
