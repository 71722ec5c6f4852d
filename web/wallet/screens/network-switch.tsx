import { type ReactNode, useState } from 'react';
import { Switch } from '../../ui/choice.tsx';
import { t } from '../../ui/text/t.ts';
import type { Vault } from '../key-vault.ts';
import { isOpen, unlock } from '../keyring.ts';
import { signIn } from '../sign-in.ts';
import { keep, kept, useKept } from '../wallet-storage.ts';

/**
 * Switches the network. One key serves all networks, but starting a session on another network
 * needs a signature.
 */
export function NetworkSwitch({ vault }: { readonly vault: Vault }): ReactNode {
  const network = useKept('network');
  const [busy, setBusy] = useState(false);
  if (network === null) return null;
  const change = async (test: boolean) => {
    const network = test ? 'testnet' : 'mainnet';
    const hasSession = kept('sessions')[network] !== undefined;
    if (!hasSession && isOpen(vault)) {
      setBusy(true);
      try {
        return await signIn(await unlock(vault, { by: vault.seal.by, password: '' }), network);
      } catch {
        // The sign-in screen shows the error.
      } finally {
        setBusy(false);
      }
    }
    keep('network', network);
  };
  return (
    <Switch
      data-name="Test mode"
      label={t('wallet.test_mode')}
      checked={network === 'testnet'}
      disabled={busy}
      onChange={(test) => void change(test)}
    />
  );
}
