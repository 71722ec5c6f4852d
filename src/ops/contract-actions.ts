import { formatUnits } from 'viem';
import { StartError } from '#core/start-error.ts';
import { readAddress } from '#ops/deploy-contract.ts';
import { ROLES, roleId } from '#settlement/contract/roles.ts';
import type { Hex } from '#settlement/requests.ts';

/** One transaction to the settlement contract, and what it brings about. */
export interface ContractCall {
  readonly functionName: string;
  readonly args: readonly unknown[];
  /** Who may send it. */
  readonly by:
    | 'admin'
    | 'guardian'
    | 'guardian or watcher'
    | 'admin or guardian'
    | 'next admin'
    | 'guardian, registrar or merchant (watcher: if the registrar proposed it)'
    | 'treasurer'
    | 'anyone';
  /** One sentence, before anything is sent. */
  readonly says: string;
}

/** What the present state of the contract says. */
export interface ContractView {
  /** Whole USDC per hour. */
  readonly ceiling: number;
  /** Atoms. */
  readonly bookedFees: { readonly acquirer: bigint; readonly protocol: bigint };
  /** Unix seconds from which an announced grant can be made; 0: none is announced. */
  announcedGrant(role: Hex, account: Hex): Promise<number>;
  /** How many there are, and from when on the last one may be revoked; 0: not announced. */
  guardians(): Promise<{ readonly count: number; readonly lastRevocableAt: number }>;
  /** The highest that needs no delay, in whole USDC per hour. */
  approvedCeiling(): Promise<number>;
  walletChange(merchant: number): Promise<AnnouncedWallet | null>;
}

/** A settlement wallet that waits to replace another one. */
export interface AnnouncedWallet {
  readonly to: Hex;
  /** Unix seconds. */
  readonly applicableAt: number;
  /** Who announced it. */
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
  'cancel-wallet': cancelWallet,
  'drop-wallet-changes': async () => DROP_WALLET_CHANGES,
  collect,
  hold,
  admin,
} satisfies Record<
  string,
  (options: Options, view: ContractView) => Promise<readonly ContractCall[]>
>;

/** An option's text. @throws StartError without one. */
function given(options: Options, name: string): string {
  const value = options[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new StartError(`--${name} is needed`);
}

function integer(text: string, name: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new StartError(`--${name}=${text} must be an integer`);
}

function usdc(atoms: bigint): string {
  return `${formatUnits(atoms, USDC_DECIMALS)} USDC`;
}

function pauses(options: Options, verb: 'pause' | 'unpause'): ContractCall[] {
  const only = options.only;
  const parts = PARTS.filter((part) => only === undefined || only === part);
  if (parts.length === 0) throw new StartError('--only must be settling or refunding');
  const by = verb === 'pause' ? 'guardian or watcher' : 'admin';
  const says = verb === 'pause' ? 'stops; only the admin can start it again' : 'resumes';
  return parts.map((part) => {
    const functionName = `${verb}${part === 'settling' ? 'Settling' : 'Refunding'}`;
    return { functionName, args: [], by, says: `${part} ${says}` };
  });
}

function roleOf(options: Options) {
  const name = given(options, 'role');
  const known = ROLES.find((one) => one === name);
  if (known === undefined) throw new StartError(`--role must be one of ${ROLES.join(', ')}`);
  const role = roleId(known);
  return { name, role, account: readAddress(given(options, 'account'), 'account') };
}

/** The first time it announces, and once the delay has passed it grants. */
async function grant(options: Options, view: ContractView): Promise<ContractCall[]> {
  const { name, role, account } = roleOf(options);
  const args = [role, account];
  if (options.cancel === true) {
    const says = `the announced grant of ${name} to ${account} is dropped`;
    return [{ functionName: 'cancelGrant', args, by: 'admin or guardian', says }];
  }
  const applicableAt = await view.announcedGrant(role, account);
  if (applicableAt === 0) {
    const says = `announces that ${account} becomes ${name}: run this again after the delay`;
    return [{ functionName: 'announceGrant', args, by: 'admin', says }];
  }
  const since = new Date(applicableAt * 1000).toISOString();
  const says = `${account} becomes ${name} (announced, possible from ${since})`;
  return [{ functionName: 'grantRole', args, by: 'admin', says }];
}

/** At once, the last guardian excepted: without one, nobody could stop a thief. */
async function revoke(options: Options, view: ContractView): Promise<ContractCall[]> {
  const { name, role, account } = roleOf(options);
  if (name === 'guardian') {
    const { count, lastRevocableAt } = await view.guardians();
    if (count === 1 && lastRevocableAt === 0) {
      const says = 'announces that the last guardian goes: run this again after the delay';
      return [{ functionName: 'announceLastRevocation', args: [], by: 'admin', says }];
    }
  }
  const says = `${account} is no longer a ${name}, at once`;
  return [{ functionName: 'revokeRole', args: [role, account], by: 'admin', says }];
}

async function rates(options: Options): Promise<ContractCall[]> {
  if (options.cancel === true) {
    const says = 'the announced rates are dropped';
    return [{ functionName: 'cancelRates', args: [], by: 'admin or guardian', says }];
  }
  if (options.apply === true) {
    const says = 'the announced rates come into force';
    return [{ functionName: 'applyRates', args: [], by: 'anyone', says }];
  }
  const text = given(options, 'rates');
  const values = text.split(',').map((one) => integer(one, 'rates'));
  const [acquirer = 0, protocol = 0, cashback = 0] = values;
  if (values.length !== 3) throw new StartError(`--rates=${text} must be three integers`);
  const says = `announces rates of ${acquirer}, ${protocol} and ${cashback} basis points`;
  const args = [{ acquirer, protocol, cashback }];
  return [{ functionName: 'scheduleRates', args, by: 'admin', says }];
}

async function ceiling(options: Options, view: ContractView): Promise<ContractCall[]> {
  if (options.apply === true) {
    const says = 'the announced ceiling comes into force';
    return [{ functionName: 'applyCeiling', args: [], by: 'anyone', says }];
  }
  const value = integer(given(options, 'usdc-per-hour'), 'usdc-per-hour');
  if (value < view.ceiling) {
    const says = `at most ${value} USDC settle per hour, from now on (now ${view.ceiling})`;
    return [{ functionName: 'lowerCeiling', args: [value], by: 'guardian', says }];
  }
  const says = `announces a ceiling of ${value} USDC per hour (now ${view.ceiling})`;
  return [{ functionName: 'scheduleCeiling', args: [value], by: 'admin', says }];
}

async function restoreCeiling(options: Options, view: ContractView): Promise<ContractCall[]> {
  const approved = await view.approvedCeiling();
  const { 'usdc-per-hour': wanted = String(approved) } = options;
  const value = integer(String(wanted), 'usdc-per-hour');
  if (value > approved) {
    throw new StartError(`at most ${approved} can be restored: more waits (see "ceiling")`);
  }
  const says = `up to ${value} USDC settle per hour again, at once (now ${view.ceiling})`;
  return [{ functionName: 'restoreCeiling', args: [value], by: 'admin', says }];
}

async function cancelWallet(options: Options, view: ContractView): Promise<ContractCall[]> {
  const merchant = integer(given(options, 'merchant'), 'merchant');
  const change = await view.walletChange(merchant);
  if (change === null) throw new StartError(`no wallet is announced for merchant ${merchant}`);
  const by = 'guardian, registrar or merchant (watcher: if the registrar proposed it)';
  const { to, proposer } = change;
  const says = `merchant ${merchant} keeps its wallet: ${to}, announced by ${proposer}, is dropped`;
  return [{ functionName: 'cancelWallet', args: [merchant], by, says }];
}

const DROP_WALLET_CHANGES: readonly ContractCall[] = [
  {
    functionName: 'dropWalletChanges',
    args: [],
    by: 'guardian',
    says: 'every announced wallet is dropped, for all merchants',
  },
];

async function collect(options: Options, view: ContractView): Promise<ContractCall[]> {
  const to = readAddress(given(options, 'to'), 'to');
  const { acquirer, protocol } = view.bookedFees;
  const says = `pays ${usdc(acquirer)} of acquirer and ${usdc(protocol)} of protocol fees to ${to}`;
  return [{ functionName: 'collectFees', args: [to, acquirer, protocol], by: 'treasurer', says }];
}

async function hold(options: Options): Promise<ContractCall[]> {
  const merchant = integer(given(options, 'merchant'), 'merchant');
  const until = new Date(given(options, 'until'));
  if (Number.isNaN(until.getTime())) throw new StartError('--until must be a time (ISO 8601)');
  const seconds = Math.floor(until.getTime() / 1000);
  const says = `merchant ${merchant} withdraws nothing before ${until.toISOString()}`;
  return [{ functionName: 'holdPayouts', args: [merchant, seconds], by: 'guardian', says }];
}

/** The present admin announces the next one, who accepts after the delay. */
async function admin(options: Options): Promise<ContractCall[]> {
  if (options.cancel === true) {
    const says = 'the announced admin is dropped';
    return [{ functionName: 'cancelDefaultAdminTransfer', args: [], by: 'admin', says }];
  }
  if (options.accept === true) {
    const says = 'you become the admin in place of the present one';
    return [{ functionName: 'acceptDefaultAdminTransfer', args: [], by: 'next admin', says }];
  }
  const next = readAddress(given(options, 'account'), 'account');
  const says = `announces ${next} as the admin: it accepts with --accept after the delay`;
  return [{ functionName: 'beginDefaultAdminTransfer', args: [next], by: 'admin', says }];
}
