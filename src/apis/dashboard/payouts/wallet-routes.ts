import Type from 'typebox';
import { selectMerchantNumbers } from '#accounts/account-queries.ts';
import { ConsentBody, ConsentSchema } from '#apis/dashboard/account/account-schema.ts';
import { orUnavailable } from '#apis/dashboard/payouts/refuse-if-chain-unavailable.ts';
import { walletDeployer } from '#apis/dashboard/payouts/wallet-deployer.ts';
import { changeBy, MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { nullable, oneOf, Timestamp, text, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { cancelWalletChange } from '#payouts/cancel-wallet-change.ts';
import { changeWallet } from '#payouts/change-wallet.ts';
import { walletChangeConsent } from '#payouts/wallet-change-consent.ts';
import { readWalletView } from '#payouts/wallet-view.ts';
import { contractOf, numberOnContract } from '#settlement/contract-versions.ts';

const TAG = 'Settlement wallet';
const PATH = `${MODE}/settlement_wallet`;

function readRoute(ctx: ApiContext) {
  return personRoute({
    method: 'GET',
    path: PATH,
    operationId: 'readSettlementWallet',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the settlement wallet, and a change in progress',
    description:
      'Read from the settlement contract, even if the wallet was announced or changed on ' +
      'the contract itself. While no node responds, the last known state.',
    access: 'viewer',
    response: WalletSchema,
    handle: async ({ caller }) => answerWith(200, await walletView(ctx, caller.tenant)),
  });
}

const ConsentQuery = Type.Object({ wallet: text(42, 'The new EVM address.', 42) });

function consentRoute(ctx: ApiContext) {
  return personRoute<typeof ConsentQuery>({
    method: 'GET',
    path: `${PATH}/consent`,
    operationId: 'readWalletConsent',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the message that the new wallet signs (EIP-712)',
    access: 'owner',
    query: ConsentQuery,
    response: ConsentSchema,
    errors: ['account_not_live', 'service_unavailable'],
    handle: async ({ caller, query, now }) => {
      const wish = { tenant: caller.tenant, ...query, now };
      const consent = await orUnavailable(walletChangeConsent(ctx, wish));
      if (isRefusal(consent)) return consent;
      return answerWith(200, { deadline: consent.deadline, typed_data: consent.typedData });
    },
  });
}

function changeRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof ConsentBody>({
    method: 'POST',
    path: PATH,
    operationId: 'changeSettlementWallet',
    moves: 'money',
    tag: TAG,
    summary: 'Announce another settlement wallet',
    description:
      'Needs a second factor verified in the last five minutes. All owners get an email. ' +
      'The contract delays the new wallet, and until then the change can be canceled. ' +
      'Refused for 72 hours after a change of owners, and while payouts are held. A wallet ' +
      'that is not on the chain yet (ERC-6492) is deployed first, if the operator lists ' +
      'its factory.',
    access: 'owner',
    body: ConsentBody,
    status: 202,
    response: WalletSchema,
    errors: [
      'account_not_live',
      'unexpected_state',
      'wallet_not_deployed',
      'rate_limit_exceeded',
      'service_unavailable',
    ],
    handle: async (request) => {
      const { caller, body } = request;
      const input = { consent: body, deploy: walletDeployer(ctx, request) };
      const row = await orUnavailable(changeWallet(ctx, changeBy(request), input));
      return isRefusal(row) ? row : answerWith(202, await walletView(ctx, caller.tenant));
    },
  });
}

function cancelRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: PATH,
    operationId: 'cancelWalletChange',
    moves: 'money',
    asks: 'never',
    tag: TAG,
    summary: 'Cancel an announced change of the settlement wallet',
    description:
      'Works for changes announced here or on the contract itself. The contract responds within ' +
      'seconds.',
    access: 'owner',
    status: 202,
    response: WalletSchema,
    errors: ['account_not_live', 'unexpected_state'],
    handle: async (request) => {
      const refused = await cancelWalletChange(ctx, changeBy(request));
      if (refused !== null) return refused;
      return answerWith(202, await walletView(ctx, request.caller.tenant));
    },
  });
}

export function walletRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), consentRoute(ctx), changeRoute(ctx), cancelRoute(ctx)];
}

/**
 * The previous contract and the account's number on it, with which its funds can be found on the
 * chain.
 */
const FORMER = {
  settlement: text(42, 'The address of the settlement contract.', 42),
  merchant_number: Type.Integer({ minimum: 0, description: 'The account on the contract.' }),
};
const PLACE = { chain_id: Type.Integer({ description: 'The id of the blockchain.' }), ...FORMER };

const WalletSchema = Type.Object(
  {
    wallet: nullable(
      text(42, 'The EVM address that withdrawals go to; `null` if the account is not live.', 42),
    ),
    contract: nullable(
      Type.Object(PLACE, {
        description:
          'The data that the settlement wallet needs to withdraw without this service; `null` if ' +
          'not live.',
      }),
    ),
    former_contracts: Type.Array(Type.Object(FORMER), {
      description:
        'Contracts of the same chain that the account has moved away from, oldest first.',
    }),
    change: nullable(
      Type.Object(
        {
          wallet: text(42, 'The EVM address that withdrawals will go to.', 42),
          status: oneOf(
            ['pending', 'announced', 'applied', 'canceled', 'failed'] as const,
            'An announced wallet waits until applicable_at.',
          ),
          applicable_at: nullable(Timestamp),
          failure_reason: nullable(textOut('The reason why the change failed, or null.')),
          created: Timestamp,
        },
        { description: 'The newest change of the wallet.' },
      ),
    ),
  },
  { description: 'The settlement wallet, and the newest change of it.' },
);

async function walletView(ctx: ApiContext, tenant: Tenant): Promise<object> {
  const { db, chains } = ctx;
  const view = await readWalletView(ctx, tenant);
  const { wallet, merchantNumber: number } = view;
  const change =
    view.change === null
      ? null
      : {
          wallet: view.change.wallet,
          status: view.change.status,
          applicable_at: view.change.applicable_at,
          failure_reason: view.change.failure_reason,
          created: view.change.created,
        };
  const config = chains.find((chain) => chain.config.livemode === tenant.livemode)?.config;
  const contract =
    number === null || config === undefined
      ? null
      : {
          chain_id: config.chainId,
          settlement: contractOf(config, number),
          merchant_number: numberOnContract(number),
        };
  const numbers = await selectMerchantNumbers(db, tenant);
  const formerContracts =
    config === undefined
      ? []
      : numbers.slice(0, -1).map((former) => ({
          settlement: contractOf(config, former),
          merchant_number: numberOnContract(former),
        }));
  return { wallet, contract, former_contracts: formerContracts, change };
}
