import { parseArgs } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { expectedToken, requireToken } from '#ops/check-usdc-before-deploy.ts';
import { CONTRACT_USAGE, isContractCommand, runContractCommand } from '#ops/contract-command.ts';
import {
  addressOf,
  CREATE2_FACTORY,
  deployContract,
  newKey,
  readAddress,
  readSalt,
  requireFloors,
} from '#ops/deploy-contract.ts';
import { readSecret } from '#ops/read-secret.ts';
import type { Hex } from '#settlement/chain-requests.ts';

const USAGE = `npm run chain -- <command>

  new-keys <count>      private keys and their addresses: keep the keys, fund the addresses
  deploy                deploys the settlement contract; asks for the private key that pays for it
    --network testnet|mainnet   whose settings are printed
    --rpc-url <url> --usdc <address>
    --proposers <address>,…                    schedule operations of the timelock, the admin
    --steward <address>                        lifts pauses, revokes roles at once
    --treasurer <address> --registrar <address>
    --guardians <address>,<address>,…          two or more, of different people
    --watchers <address>,…                     of watchtowers, may be none: they only stop
    --operators <address>,<address>,…          the relayers' and two spare ones, kept offline
    --governance-delay-hours <hours>           default 48, at least 48, at most 720
    --wallet-delay-hours <hours>               default 48, at least 24
    --payout-hold-hours <hours>                default 48, at least 24, at most 720
    --hourly-ceiling <USDC>                    whole USDC that may settle per hour
    --usdc-name <name>, --usdc-version <version>   default Circle's: USD Coin or USDC, 2
    --test-network             lifts the minimums, allows any name: for networks without real money
    --rates <acquirer>,<protocol>,<cashback>   basis points, default 30,20,5
    --salt <number or 0x and 64 digits>        gives another address, default 0
  address               the address that deploy would give the contract, with the same options but
                        --network and --rpc-url, and the data with which an explorer verifies it

${CONTRACT_USAGE}`;

const HEX_KEY = /^0x[0-9a-f]{64}$/i;
const MAX_KEYS = 20;

function printKeys(countText: string): void {
  const count = Number(countText);
  if (!Number.isInteger(count) || count < 1 || count > MAX_KEYS) {
    throw new StartError(`new-keys needs a number from 1 to ${MAX_KEYS}`);
  }
  for (let i = 0; i < count; i++) {
    const { key, address } = newKey();
    console.log(`${address} ${key}`);
  }
}

function integers(
  text: string,
  input: { readonly name: string; readonly count: number },
): number[] {
  const parts = text.split(',');
  if (parts.length === input.count && parts.every((one) => /^\d{1,15}$/.test(one))) {
    return parts.map(Number);
  }
  const what =
    input.count === 1 ? 'a whole number' : `${input.count} whole numbers, separated by commas`;
  throw new StartError(`--${input.name}=${text} must be ${what}`);
}

const VALUES = [
  ...['network', 'rpc-url', 'usdc', 'proposers', 'steward', 'treasurer', 'registrar'],
  ...['operators', 'guardians', 'watchers', 'governance-delay-hours', 'wallet-delay-hours'],
  ...['payout-hold-hours', 'hourly-ceiling', 'rates', 'salt', 'usdc-name', 'usdc-version'],
];

/** @throws StartError that names the first invalid option. */
function readDeployment(args: readonly string[]) {
  const isTest = args.includes('--test-network');
  const options = Object.fromEntries(VALUES.map((name) => [name, { type: 'string' as const }]));
  const given = args.filter((one) => one !== '--test-network');
  const { values } = parseArgs({ args: given, options });
  const address = (name: string) => readAddress(values[name], name);
  const addresses = (name: string) =>
    (values[name] ?? '').split(',').map((one) => readAddress(one, name));
  const integer = (name: string, otherwise: string) =>
    integers(values[name] ?? otherwise, { name, count: 1 })[0] ?? 0;
  const rates = integers(values.rates ?? '30,20,5', { name: 'rates', count: 3 });
  const [acquirer = 0, protocol = 0, cashback = 0] = rates;
  const deployment = {
    usdc: address('usdc'),
    proposers: addresses('proposers'),
    steward: address('steward'),
    operators: addresses('operators'),
    registrar: address('registrar'),
    guardians: addresses('guardians'),
    watchers: values.watchers === undefined ? [] : addresses('watchers'),
    treasurer: address('treasurer'),
    governanceDelay: integer('governance-delay-hours', '48') * 3600,
    walletDelay: integer('wallet-delay-hours', '48') * 3600,
    payoutHold: integer('payout-hold-hours', '48') * 3600,
    hourlyCeiling: integer('hourly-ceiling', ''),
    rates: { acquirer, protocol, cashback },
    salt: readSalt(values.salt),
  };
  if (!isTest) requireFloors(deployment);
  return { deployment, isTest, values };
}

/** Prints the address that `deploy` with the same options creates. Needs no node. */
function printAddress(args: readonly string[]): void {
  const told = addressOf(readDeployment(args).deployment);
  console.log(`settlement=${told.settlement}`);
  console.log(`lens=${told.lens}`);
  console.log(`timelock=${told.timelock}`);
  console.log(`factory=${CREATE2_FACTORY}`);
  console.log(`salt=${told.salt}`);
  console.log(`creation_code_hash=${told.codeHash}`);
  console.log(`constructor_arguments=${told.constructorArguments}`);
}

async function deploy(args: readonly string[]): Promise<void> {
  const { deployment: wanted, isTest, values } = readDeployment(args);
  const { network, 'usdc-name': name, 'usdc-version': version } = values;
  if (network !== 'testnet' && network !== 'mainnet') {
    throw new StartError('--network must be testnet or mainnet');
  }
  const deployment = { ...wanted, rpcUrl: values['rpc-url'] ?? '' };
  const told = await requireToken(deployment, expectedToken({ name, version, isTest }));
  console.error(`settles in "${told.name}", version ${told.version}, of 6 decimals`);
  console.error(`its address will be ${addressOf(deployment).settlement}`);
  const key = await readSecret('Private key that pays');
  if (!HEX_KEY.test(key)) throw new StartError('the key must be 0x followed by 64 hex digits');
  const deployed = await deployContract(deployment, key as Hex);
  const prefix = `CHAIN_${network.toUpperCase()}_`;
  console.log(`${prefix}CHAIN_ID=${deployed.chainId}`);
  console.log(`${prefix}USDC=${deployment.usdc}`);
  console.log(`${prefix}SETTLEMENT=${deployed.settlement}`);
  if (deployed.blockNumber !== null) {
    console.log(`${prefix}DEPLOYED_AT_BLOCK=${deployed.blockNumber}`);
  } else {
    console.error(`it already existed; a block explorer shows its ${prefix}DEPLOYED_AT_BLOCK`);
  }
}

const [command, ...rest] = process.argv.slice(2);
try {
  if (command === 'new-keys') printKeys(rest[0] ?? '');
  else if (command === 'deploy') await deploy(rest);
  else if (command === 'address') printAddress(rest);
  else if (isContractCommand(command)) await runContractCommand(command, rest);
  else throw new StartError(USAGE);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
