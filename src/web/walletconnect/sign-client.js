export { SignClient } from '@walletconnect/sign-client';
