import { partOf } from '../../ui/lazy-part.ts';

/** The screens of an offline sale, which load later, like `lazy-screens.ts`. */
export const AskingScreen = partOf(
  async () => (await import('./ask-wallet-to-sign.tsx')).AskingScreen,
);
export const AcceptedScreen = partOf(
  async () => (await import('./accepted-offline.tsx')).AcceptedScreen,
);
