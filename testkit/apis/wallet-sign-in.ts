import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import type { Hex } from '#settlement/chain-requests.ts';
import { caller } from '#testkit/apis/api-client.ts';

/** A wallet's sign-in message. Tests set a field to a value that the service must refuse. */
export interface SignInMessage {
  readonly chainId: number;
  readonly domain: string;
  readonly uri: string;
  readonly nonce: string;
  readonly issuedAt: Date;
  readonly expirationTime?: Date;
  readonly notBefore?: Date;
}

export function newWallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** Returns the message as the text that EIP-4361 defines. */
export function messageOf(
  { address }: Pick<PrivateKeyAccount, 'address'>,
  message: SignInMessage,
): string {
  return createSiweMessage({
    address,
    version: '1',
    statement: 'Sign in to Tapline.',
    ...message,
  });
}

export interface SignInOptions {
  readonly chainId?: number;
  readonly now?: Date;
  /** The service's public URL. Default: the URL to which the request goes. */
  readonly publicUrl?: string;
  /**
   * A contract wallet to sign in with, which the account's key controls. Default: the account
   * itself.
   */
  readonly from?: Hex;
}

/** @returns the token of the session */
export async function signInWallet(
  url: string,
  account: PrivateKeyAccount,
  options: SignInOptions = {},
): Promise<string> {
  const open = caller(`${url}/api/payer/v1`, 'none');
  const { body } = await open.post('/sign_in/nonce');
  const { publicUrl = url } = options;
  const { host } = new URL(publicUrl);
  const message = messageOf(
    { address: options.from ?? account.address },
    {
      chainId: options.chainId ?? 31_337,
      domain: host,
      uri: publicUrl,
      nonce: String(body.nonce),
      issuedAt: options.now ?? new Date(),
    },
  );
  const signature = await account.signMessage({ message });
  const session = await open.post('/sign_in', { message, signature });
  if (session.status !== 201) throw new Error(JSON.stringify(session.body));
  return String(session.body.token);
}
