import { randomBytes } from 'node:crypto';
import { formatUnits } from 'viem';
import { StartError } from '#core/start-error.ts';
import { readAddress } from '#ops/deploy-contract.ts';
import type { Operation } from '#ops/pending-contract-operations.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { ROLES, roleId, TIMELOCK_ROLES } from '#settlement/contract/contract-roles.ts';
import type { OperationCall } from '#settlement/contract/timelock-calls.ts';

export interface ContractCall {
  readonly on: 'settlement' | 'timelock';
  readonly functionName: string;
  readonly args: readonly unknown[];
  /** The role that may send the transaction. */
  readonly by:
    | 'proposer'
    | 'guardian'
    | 'guardian or watcher'
    | 'steward'
    | 'guardian, registrar or merchant (watcher: if the registrar proposed it)'
    | 'treasurer'
    | 'anyone';
  /** The effect in one sentence, printed before anything is sent. */
  readonly says: string;
}

export interface ContractView {
  /** Whole USDC per hour. */
  readonly ceiling: number;
  /** Atoms. */
  readonly bookedFees: { readonly acquirer: bigint; readonly protocol: bigint };
  readonly settlement: Hex;
  readonly timelock: Hex;
  /** Returns the delay of a timelock operation, in seconds. */
  delay(): Promise<bigint>;
  operations(): Promise<readonly Operation[]>;
  /** Encodes a call of one of the contracts' functions for a timelock operation. */
  encode(on: ContractCall['on'], functionName: string, args: readonly unknown[]): OperationCall;
  /** Returns the ceiling up to which a raise needs no delay, in whole USDC per hour. */
  approvedCeiling(): Promise<number>;
  walletChange(merchant: number): Promise<AnnouncedWallet | null>;
}

/** A proposed settlement wallet that will replace the current one. */
export interface AnnouncedWallet {
  readonly to: Hex;
  /** Unix seconds. */
  readonly applicableAt: number;
  readonly proposer: Hex;
}

export type Options = Readonly<Record<string, string | boolean | undefined>>;

const PARTS = ['settling', 'refunding'] as const;
const USDC_DECIMALS = 6;

export const CONTRACT_ACTIONS = {
  pause: async (options: Options) => pauses(options, 'pause'),
  unpause: async (options: Options) => pauses(options, 'unpause'),
  grant,
  revoke,
  rates,
  ceiling,
  'restore-ceiling': restoreCeiling,
  cancel,
  'cancel-wallet': cancelWallet,
  'drop-wallet-changes': dropWalletChanges,
  collect,
  hold,
} satisfies Record<
  string,
  (options: Options, view: ContractView) => Promise<readonly ContractCall[]>
>;

/** @throws StartError if it is missing. */
function given(options: Options, name: string): string {
  const value = options[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new StartError(`--${name} is required`);
}

function integer(text: string, name: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new StartError(`--${name}=${text} must be a whole number, 0 or more`);
}

function usdc(atoms: bigint): string {
  return `${formatUnits(atoms, USDC_DECIMALS)} USDC`;
}

function pauses(options: Options, verb: 'pause' | 'unpause'): ContractCall[] {
  const only = options.only;
  const parts = PARTS.filter((part) => only === undefined || only === part);
  if (parts.length === 0) throw new StartError('--only must be settling or refunding');
  const by = verb === 'pause' ? 'guardian or watcher' : 'steward';
  const says = verb === 'pause' ? 'stops; only the steward can start it again' : 'resumes';
  return parts.map((part) => {
    const functionName = `${verb}${part === 'settling' ? 'Settling' : 'Refunding'}`;
    return { on: 'settlement', functionName, args: [], by, says: `${part} ${says}` };
  });
}

function roleOf(options: Options) {
  const name = given(options, 'role');
  const all = [...ROLES, 'proposer'] as const;
  const known = all.find((one) => one === name);
  if (known === undefined) throw new StartError(`--role must be one of ${all.join(', ')}`);
  const on = TIMELOCK_ROLES.some((one) => one === known) ? 'timelock' : 'settlement';
  const args = [roleId(known), readAddress(given(options, 'account'), 'account')] as const;
  return { name: known, on, args, account: args[1] } as const;
}

type Wish = Omit<ContractCall, 'by'>;

/** Schedules an operation when first run, and executes it when run again after the delay. */
async function throughTimelock(view: ContractView, wish: Wish): Promise<ContractCall[]> {
  const { target, data } = view.encode(wish.on, wish.functionName, wish.args);
  const same = ({ calls }: Operation) =>
    calls.length === 1 &&
    calls.every(
      (one) =>
        one.target.toLowerCase() === target.toLowerCase() &&
        one.data.toLowerCase() === data.toLowerCase(),
    );
  const waiting = (await view.operations()).find(same);
  if (waiting === undefined) {
    const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
    const args = [target, 0n, data, `0x${'00'.repeat(32)}`, salt, await view.delay()];
    const says = `schedules: ${wish.says}; run this again after the delay`;
    return [{ on: 'timelock', functionName: 'schedule', args, by: 'proposer', says }];
  }
  const { id, predecessor, salt, readyAt } = waiting;
  const since = new Date(readyAt * 1000).toISOString();
  const says = `${wish.says} (operation ${id}, possible from ${since})`;
  const args = [target, 0n, data, predecessor, salt];
  return [{ on: 'timelock', functionName: 'execute', args, by: 'anyone', says }];
}

async function grant(options: Options, view: ContractView): Promise<ContractCall[]> {
  const { name, on, args, account } = roleOf(options);
  const says = `${account} becomes ${name}`;
  return throughTimelock(view, { on, functionName: 'grantRole', args, says });
}

/**
 * Revokes a role. The steward revokes it without delay, except for the steward role and the
 * timelock's roles.
 */
async function revoke(options: Options, view: ContractView): Promise<ContractCall[]> {
  const { name, on, args, account } = roleOf(options);
  const says = `${account} is no longer ${name}`;
  if (on === 'timelock' || name === 'steward') {
    return throughTimelock(view, { on, functionName: 'revokeRole', args, says });
  }
  return [{ on, functionName: 'revokeRole', args, by: 'steward', says: `${says}, at once` }];
}

async function rates(options: Options, view: ContractView): Promise<ContractCall[]> {
  const text = given(options, 'rates');
  const values = text.split(',').map((one) => integer(one, 'rates'));
  const [acquirer = 0, protocol = 0, cashback = 0] = values;
  if (values.length !== 3) throw new StartError(`--rates=${text} must be three integers`);
  const says = `rates become ${acquirer}, ${protocol} and ${cashback} basis points`;
  const args = [{ acquirer, protocol, cashback }];
  return throughTimelock(view, { on: 'settlement', functionName: 'setRates', args, says });
}

async function ceiling(options: Options, view: ContractView): Promise<ContractCall[]> {
  const value = integer(given(options, 'usdc-per-hour'), 'usdc-per-hour');
  if (value < view.ceiling) {
    const says = `at most ${value} USDC settle per hour, from now on (now ${view.ceiling})`;
    const functionName = 'lowerCeiling';
    return [{ on: 'settlement', functionName, args: [value], by: 'guardian', says }];
  }
  const says = `the ceiling becomes ${value} USDC per hour (now ${view.ceiling})`;
  const wish = { on: 'settlement', functionName: 'raiseCeiling', args: [value], says } as const;
  return throughTimelock(view, wish);
}

/**
 * Maximum number of operations canceled by one transaction, so that it fits in a block's gas limit.
 */
const OPERATIONS_PER_CALL = 200;

async function cancel(options: Options, view: ContractView): Promise<ContractCall[]> {
  const text = options.operation;
  const waiting = (await view.operations()).map(({ id }) => id);
  const ids = typeof text === 'string' ? text.split(',') : waiting;
  if (typeof text !== 'string' && options.all !== true) {
    throw new StartError('--operation <id>,… or --all is needed; "status" lists the operations');
  }
  if (ids.length === 0) throw new StartError('no operation is scheduled');
  const wrong = ids.find((id) => !/^0x[0-9a-f]{64}$/i.test(id));
  if (wrong !== undefined) throw new StartError(`--operation=${wrong} is not an operation id`);
  const portions = Array.from({ length: Math.ceil(ids.length / OPERATIONS_PER_CALL) }, (_, i) =>
    ids.slice(i * OPERATIONS_PER_CALL, (i + 1) * OPERATIONS_PER_CALL),
  );
  return portions.map((portion): ContractCall => {
    const says = `cancels ${portion.length} scheduled: ${portion.join(', ')}`;
    const args = [portion];
    return { on: 'settlement', functionName: 'cancelOperations', args, by: 'guardian', says };
  });
}

async function restoreCeiling(options: Options, view: ContractView): Promise<ContractCall[]> {
  const approved = await view.approvedCeiling();
  const { 'usdc-per-hour': limit = String(approved) } = options;
  const value = integer(String(limit), 'usdc-per-hour');
  if (value > approved) {
    throw new StartError(
      `the ceiling can be restored to at most ${approved}: a higher one needs an operation ` +
        '(see "ceiling")',
    );
  }
  const says = `up to ${value} USDC settle per hour again, at once (now ${view.ceiling})`;
  return [{ on: 'settlement', functionName: 'restoreCeiling', args: [value], by: 'steward', says }];
}

async function cancelWallet(options: Options, view: ContractView): Promise<ContractCall[]> {
  const merchant = integer(given(options, 'merchant'), 'merchant');
  const change = await view.walletChange(merchant);
  if (change === null) throw new StartError(`no wallet is announced for merchant ${merchant}`);
  const by = 'guardian, registrar or merchant (watcher: if the registrar proposed it)';
  const { to, proposer } = change;
  const says = `merchant ${merchant} keeps its wallet: ${to}, announced by ${proposer}, is dropped`;
  return [{ on: 'settlement', functionName: 'cancelWallet', args: [merchant], by, says }];
}

async function dropWalletChanges(options: Options): Promise<ContractCall[]> {
  const { registrar } = options;
  if (typeof registrar === 'string') {
    const args = [readAddress(registrar, 'registrar')];
    const says = `every wallet that ${args[0]} has announced until now is dropped`;
    const functionName = 'dropWalletChangesOf';
    return [{ on: 'settlement', functionName, args, by: 'guardian or watcher', says }];
  }
  const says = 'every wallet that is announced now is dropped, no matter who announced it';
  const functionName = 'dropWalletChanges';
  return [{ on: 'settlement', functionName, args: [], by: 'guardian', says }];
}

async function collect(options: Options, view: ContractView): Promise<ContractCall[]> {
  const to = readAddress(given(options, 'to'), 'to');
  const { acquirer, protocol } = view.bookedFees;
  const says = `pays ${usdc(acquirer)} of acquirer and ${usdc(protocol)} of protocol fees to ${to}`;
  const args = [to, acquirer, protocol];
  return [{ on: 'settlement', functionName: 'collectFees', args, by: 'treasurer', says }];
}

async function hold(options: Options): Promise<ContractCall[]> {
  const merchant = integer(given(options, 'merchant'), 'merchant');
  const until = new Date(given(options, 'until'));
  if (Number.isNaN(until.getTime())) throw new StartError('--until must be an ISO 8601 time');
  const seconds = Math.floor(until.getTime() / 1000);
  const says = `merchant ${merchant} withdraws nothing before ${until.toISOString()}`;
  const args = [merchant, seconds];
  return [{ on: 'settlement', functionName: 'holdPayouts', args, by: 'guardian', says }];
}
