import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { createPayerApi, type PayerApi } from '../data/payer-api.ts';
import { partOf } from '../ui/lazy-part.ts';
import type { Vault } from './key-vault.ts';
import { dropSession } from './sign-in.ts';
import { type Network, useKept } from './wallet-storage.ts';

/** The current wallet and network, provided to every page. */
export interface Here {
  readonly vault: Vault;
  readonly network: Network;
  readonly api: PayerApi;
  /** Reloads everything from the service after a change. */
  refresh(): void;
}

const SignAgainSheet = partOf(
  async () => (await import('./screens/sign-again.tsx')).SignAgainSheet,
);

const HereContext = createContext<Here | null>(null);

export function useHere(): Here {
  const here = useContext(HereContext);
  if (here === null) throw new Error('This part stands outside of a signed-in wallet');
  return here;
}

export interface SignedInProps {
  readonly vault: Vault;
  readonly network: Network;
  readonly token: string;
  readonly children: ReactNode;
}

export function SignedIn({ vault, network, token, children }: SignedInProps): ReactNode {
  const queries = useQueryClient();
  const [asking, setAsking] = useState<((signed: boolean) => void) | null>(null);
  const here = useMemo<Here>(
    () => ({
      vault,
      network,
      api: createPayerApi(token, {
        onEnded: () => {
          queries.clear();
          dropSession(network);
        },
        signAgain: () => new Promise((resolve) => setAsking(() => resolve)),
      }),
      refresh: () => void queries.invalidateQueries(),
    }),
    [vault, network, token, queries],
  );
  const end = (signed: boolean) => {
    setAsking(null);
    asking?.(signed);
  };
  return (
    <HereContext value={here}>
      {children}
      {asking === null ? null : (
        <SignAgainSheet vault={vault} network={network} token={token} onEnd={end} />
      )}
    </HereContext>
  );
}

/** Returns the session for this wallet on the chosen network. */
export function useSession(vault: Vault | null): { network: Network; token: string } | null {
  const sessions = useKept('sessions');
  const network = useKept('network');
  if (vault === null || network === null) return null;
  const session = sessions[network];
  if (session === undefined || session.address !== vault.address) return null;
  return { network, token: session.token };
}
