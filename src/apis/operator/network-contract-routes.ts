import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { countAccountsOf, selectRecoveries } from '#apis/operator/watch-queries.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { AtomsOut, nullable, oneOf, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readFeeRates } from '#settlement/chain/fees/fee-rates.ts';
import { type ContractState, readContractState } from '#settlement/chain/read/contract-state.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractsOf, currentContractVersion } from '#settlement/contract-versions.ts';
import { type Roles, readRoles } from '#settlement/reconciliation/role-holders.ts';

const TAG = 'Network';

const Network = oneOf(['testnet', 'mainnet'] as const, 'The network.');
const Blocks = nullable(Type.String({ description: 'A block number, in decimal digits.' }));

const RecoverySchema = Type.Object({
  network: Network,
  status: oneOf(
    ['done', 'recovering'] as const,
    'recovering: no payments are accepted until it ends.',
  ),
  reason: nullable(textOut('The reason why the recovery began, or null.')),
  loss_shown: Type.Boolean({
    description: 'True if rows are known to be lost, false if they are only possibly lost.',
  }),
  from_block: Blocks,
  read_to: Blocks,
  head: Blocks,
  started: nullable(Timestamp),
  finished: nullable(Timestamp),
  payments: Type.Integer({ description: 'Payments booked from the chain in this run.' }),
  refunds: Type.Integer({ description: 'Refunds booked from the chain in this run.' }),
  withdrawals: Type.Integer({ description: 'Withdrawals booked from the chain in this run.' }),
  canceled: Type.Integer({ description: 'Intents whose result a loss made uncertain.' }),
  credentials: Type.Integer({ description: 'Tokens, links, codes and sessions that ended.' }),
});

/** Runs a read from the chain; returns `null` if no node responds. */
async function ofChain<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

async function headOf(chains: readonly Chain[], livemode: boolean): Promise<string | null> {
  const chain = chains.find(({ config }) => config.livemode === livemode);
  if (chain === undefined) return null;
  return (await ofChain(() => chain.newest()))?.number.toString() ?? null;
}

function recoveriesRoute({ db, chains }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/recoveries',
    operationId: 'readRecoveries',
    moves: 'nothing',
    tag: TAG,
    summary: 'Check whether a network is being recovered, and the progress',
    access: 'operator',
    response: listed(RecoverySchema, 'The last recovery of each network.'),
    handle: async () => {
      const rows = await selectRecoveries(db);
      const data = await Promise.all(
        rows.map(async ({ livemode, from_block, read_to, ...row }) => ({
          network: networkOf(livemode),
          ...row,
          from_block: from_block?.toString() ?? null,
          read_to: read_to?.toString() ?? null,
          head: row.status === 'recovering' ? await headOf(chains, livemode) : null,
        })),
      );
      return answerWith(200, { object: 'list', data });
    },
  });
}

const Rate = Type.Integer({ description: 'Basis points.' });

const Hourly = Type.Object(
  { per_hour: AtomsOut, used: AtomsOut },
  { description: 'USDC atoms that may be settled per hour, and those used in this hour.' },
);

const StateSchema = Type.Object(
  {
    settling_paused: Type.Boolean({ description: 'True if settling is paused.' }),
    refunding_paused: Type.Boolean({ description: 'True if refunds are paused.' }),
    sales: Hourly,
    outflow: Hourly,
    admin: textOut('The address of the admin.'),
    guardians: Type.Integer({ description: 'The number of guardian addresses.' }),
    roles: Type.Array(
      Type.Object({
        role: textOut('The name of the role; `unknown` if this release does not know it.'),
        account: textOut('The address that holds it.'),
        since: nullable(Timestamp),
      }),
      { description: 'The holder of a role, and since which block.' },
    ),
    held: AtomsOut,
    owed: AtomsOut,
    fees: AtomsOut,
    rates_until: nullable({
      ...Timestamp,
      description:
        'When the first scheduled change of rates can be executed; `null` if none is scheduled.',
    }),
    announced: Type.Array(
      Type.Object({
        operation: nullable(textOut('The id in the timelock; `null` for a settlement wallet.')),
        says: textOut('The change that it would make.'),
        by: textOut('The address that has announced it; of an operation: the timelock.'),
        applicable_at: Timestamp,
      }),
      { description: 'Changes that take effect unless they are stopped.' },
    ),
  },
  { description: 'The state that the contract reports; `null` if no node responds.' },
);

const ContractSchema = Type.Object({
  network: Network,
  chain_id: Type.Integer({ description: 'The id of the blockchain.' }),
  settlement: textOut('The address of the settlement contract.'),
  former: Type.Boolean({
    description:
      'True if merchants and payers join a later contract; old payments are refunded here.',
  }),
  accounts: Type.Integer({ description: 'The number of accounts that sell on it now.' }),
  rates: nullable(
    Type.Object(
      { acquirer: Rate, protocol: Rate, cashback: Rate },
      { description: 'The fees that the contract charges now; `null` if no node responds.' },
    ),
  ),
  state: nullable(StateSchema),
});

function stateView({ sales, outflow, announced, ...state }: ContractState, roles: Roles) {
  const hourly = ({ perHour, used }: ContractState['sales']) => ({
    per_hour: toJsonAtoms(perHour),
    used: toJsonAtoms(used),
  });
  return {
    settling_paused: state.settlingPaused,
    refunding_paused: state.refundingPaused,
    ...{ sales: hourly(sales), outflow: hourly(outflow) },
    ...{ admin: state.admin, guardians: state.guardians },
    held: toJsonAtoms(state.held),
    owed: toJsonAtoms(state.owed),
    fees: toJsonAtoms(state.fees),
    roles: roles.holders.map(({ role, account, since }) => ({
      ...{ role: role ?? 'unknown', account },
      since: since?.toISOString() ?? null,
    })),
    rates_until: roles.ratesUntil?.toISOString() ?? null,
    announced: [...announced, ...roles.announced].map(({ operation, says, by, applicableAt }) => ({
      ...{ operation, says, by },
      applicable_at: applicableAt.toISOString(),
    })),
  };
}

async function stateOf({ db }: ApiContext, chain: Chain, settlement: Hex) {
  const state = await readContractState(chain, settlement);
  return stateView(state, await readRoles(db, chain, settlement));
}

async function contractView(ctx: ApiContext, chain: Chain, contractVersion: number) {
  const { network, livemode, chainId: chain_id } = chain.config;
  const { settlement } = present(contractsOf(chain.config)[contractVersion], 'contract');
  const rates = await ofChain(() => readFeeRates(chain, settlement));
  const state = await ofChain(() => stateOf(ctx, chain, settlement));
  const former = contractVersion < currentContractVersion(chain.config);
  const accounts = await countAccountsOf(ctx.db, { livemode, contractVersion });
  return { network, chain_id, settlement, former, accounts, rates, state };
}

function contractsRoute(ctx: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/contracts',
    operationId: 'readContracts',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the settlement contracts and their current fees',
    access: 'operator',
    response: listed(ContractSchema, 'The settlement contracts of each network.'),
    handle: async () => {
      const data = await Promise.all(
        // Lists the current contract of each network first.
        ctx.chains.flatMap((chain) =>
          [...contractsOf(chain.config).keys()]
            .toReversed()
            .map((contractVersion) => contractView(ctx, chain, contractVersion)),
        ),
      );
      return answerWith(200, { object: 'list', data });
    },
  });
}

export function networkRoutes(ctx: ApiContext): PersonRoute[] {
  return [recoveriesRoute(ctx), contractsRoute(ctx)];
}
