import { StartError } from '#core/start-error.ts';

/** Settings for wallets on other devices, on the pay page (docs/decisions/walletconnect.md). */
export interface WalletConnectSettings {
  readonly projectId: string;
  /** The relay that connects page and wallet: `wss://…`. */
  readonly relayUrl: string;
}

const WALLETCONNECT_SETTINGS = ['WALLETCONNECT_PROJECT_ID', 'WALLETCONNECT_RELAY_URL'] as const;

const PROJECT_ID = /^[0-9a-f]{32}$/;
/** The relay of the company that issues the project ids. */
const RELAY_URL = 'wss://relay.walletconnect.org';

/**
 * Reads the settings of WalletConnect; `null` if the pay page does not offer wallets on other
 * devices.
 * @throws StartError
 */
export function readWalletConnectSettings(
  read: (name: (typeof WALLETCONNECT_SETTINGS)[number]) => string | null,
): WalletConnectSettings | null {
  const [projectId, relay] = WALLETCONNECT_SETTINGS.map(read);
  if (projectId == null && relay != null) {
    throw new StartError('WALLETCONNECT_RELAY_URL needs WALLETCONNECT_PROJECT_ID');
  }
  if (projectId == null) return null;
  if (!PROJECT_ID.test(projectId)) {
    throw new StartError('WALLETCONNECT_PROJECT_ID must be 32 hex digits');
  }
  const relayUrl = relay ?? RELAY_URL;
  const { protocol, origin, pathname } = URL.canParse(relayUrl)
    ? new URL(relayUrl)
    : { protocol: '', origin: '', pathname: '' };
  if (!['wss:', 'ws:'].includes(protocol) || pathname !== '/' || origin === '') {
    throw new StartError('WALLETCONNECT_RELAY_URL must be wss://<host>, without a path');
  }
  return { projectId, relayUrl };
}
