/** An injected browser wallet (EIP-1193). */
export interface Provider {
  request(call: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown>;
  on?(event: string, listener: () => void): void;
  removeListener?(event: string, listener: () => void): void;
}

declare global {
  interface Window {
    ethereum?: Provider;
  }
  interface WindowEventMap {
    'eip6963:announceProvider': CustomEvent<{ readonly provider: Provider }>;
  }
}

/** Reports wallets that announce themselves (EIP-6963), including later ones. */
export function watchWallets(onWallet: (provider: Provider) => void): () => void {
  if (window.ethereum !== undefined) onWallet(window.ethereum);
  const announced = (event: WindowEventMap['eip6963:announceProvider']) =>
    onWallet(event.detail.provider);
  window.addEventListener('eip6963:announceProvider', announced);
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  return () => window.removeEventListener('eip6963:announceProvider', announced);
}
