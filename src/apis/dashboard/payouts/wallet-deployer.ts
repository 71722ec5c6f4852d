import type { PersonRequest } from '#apis/dashboard/person-route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { deployerFor } from '#payments/deploy-wallet.ts';
import type { DeployFirst } from '#settlement/chain/check/signature-refusals.ts';

/** Returns the function that deploys a settlement wallet before the account registers it. */
export function walletDeployer(
  ctx: ApiContext,
  { caller, whenGone }: Pick<PersonRequest, 'caller' | 'whenGone'>,
): DeployFirst {
  const { accountId } = caller.tenant;
  const { address } = caller.visit;
  return deployerFor(ctx, { subject: `account ${accountId}`, address, gone: whenGone() });
}
