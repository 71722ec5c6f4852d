import type { ReactNode } from 'react';
import { Button, type ButtonProps } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';

export function CancelPaymentButton(props: ButtonProps): ReactNode {
  return (
    <Button data-name="Cancel payment" wide {...props}>
      {t('till.cancel_payment')}
    </Button>
  );
}
