import assert from 'node:assert/strict';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { NetworkConfig } from '#settlement/networks.ts';
import { type Caller, caller, type Reply } from '#testing/api-client.ts';
import { persist } from '#testing/restore-ground.ts';
import { signInWallet } from '#testing/wallet-sign-in.ts';

/** The payer app of somebody, who signs in once more when the session has ended. */
export function openApp(
  { publicUrl, network }: { readonly publicUrl: string; readonly network: NetworkConfig },
  account: PrivateKeyAccount,
) {
  const { chainId } = network;
  let app: Promise<Caller> | null = null;
  const signIn = async () => {
    const token = await signInWallet(publicUrl, account, { chainId });
    return caller(`${publicUrl}/api/payer/v1`, token);
  };
  const ask = async (path: string, body?: object): Promise<Reply> => {
    app ??= signIn();
    const open = await app;
    return body === undefined ? open.get(path) : open.post(path, body);
  };
  return async (path: string, body?: object): Promise<Reply['body']> => {
    const answer = await persist(async () => {
      const first = await ask(path, body);
      if (first.status !== 401) return first;
      app = null;
      return ask(path, body);
    });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
}
