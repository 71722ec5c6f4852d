import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  domainSeparator,
  http,
  parseAbi,
  zeroAddress,
  zeroHash,
} from 'viem';
import { StartError } from '#core/start-error.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { Hex } from '#settlement/chain-requests.ts';

const TOKEN_ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function eip712Domain() view returns (bytes1,string,string,uint256,address,bytes32,uint256[])',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);
/**
 * Functions that FiatTokenV2_2 has and V2_1 lacks. Declared as views, because they are only
 * simulated.
 */
const SIGNATURE_ABI = parseAbi([
  'function permit(address, address, uint256, uint256, bytes) view',
  'function receiveWithAuthorization(' +
    'address, address, uint256, uint256, uint256, bytes32, bytes) view',
]);
/** The names and version of Circle's token. The name depends on the chain. */
const CIRCLE = { names: ['USD Coin', 'USDC'], version: '2' };
/** The contract counts its ceiling in USDC with this many decimals. */
const DECIMALS = 6;

type Reader = ReturnType<typeof createPublicClient>;

/** The name and version that a token should have; `null` accepts any value. */
export interface ExpectedToken {
  readonly names: readonly string[] | null;
  readonly version: string | null;
}

/**
 * Returns the expected name and version: the given ones, or Circle's by default. On a test network,
 * only given ones are checked.
 */
export function expectedToken(given: {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly isTest: boolean;
}): ExpectedToken {
  const { name, version, isTest } = given;
  const usual = isTest ? { names: null, version: null } : CIRCLE;
  return { names: name === undefined ? usual.names : [name], version: version ?? usual.version };
}

/**
 * Checks a token before a contract is bound to it forever: decimals, name, version, the EIP-712
 * domain, and the form of its signatures, because name and version do not distinguish FiatTokenV2_1
 * from V2_2.
 * @throws StartError
 * @returns the token's name and version.
 */
export async function requireToken(
  target: { readonly rpcUrl: string; readonly usdc: Hex },
  expected: ExpectedToken,
): Promise<{ readonly name: string; readonly version: string }> {
  const reader = createPublicClient({ transport: http(target.rpcUrl, { fetchFn: plainFetch }) });
  const contract = { address: target.usdc, abi: TOKEN_ABI } as const;
  const refuse = (what: string) => new StartError(`--usdc: the contract ${target.usdc} ${what}`);
  const code = await reader.getCode({ address: target.usdc });
  if (code === undefined) throw refuse('has no code');
  const told = async <T>(read: Promise<T>) => read.catch(() => null);
  const decimals = await told(reader.readContract({ ...contract, functionName: 'decimals' }));
  if (decimals !== DECIMALS) throw refuse(`has ${decimals ?? 'no'} decimals, not ${DECIMALS}`);
  const own = await told(reader.readContract({ ...contract, functionName: 'eip712Domain' }));
  const name = own?.[1] ?? (await told(reader.readContract({ ...contract, functionName: 'name' })));
  const version =
    own?.[2] ?? (await told(reader.readContract({ ...contract, functionName: 'version' })));
  if (name === null || version === null) throw refuse('does not report its name and version');
  const { names } = expected;
  if (names !== null && !names.includes(name)) {
    throw refuse(`calls itself "${name}", not "${names.join('" or "')}": --usdc-name allows it`);
  }
  if (expected.version !== null && expected.version !== version) {
    const expectedVersion = expected.version;
    throw refuse(
      `has the version "${version}", not "${expectedVersion}": --usdc-version allows it`,
    );
  }
  const chainId = await reader.getChainId();
  const domain = { name, version, chainId, verifyingContract: target.usdc };
  const separator = await told(
    reader.readContract({ ...contract, functionName: 'DOMAIN_SEPARATOR' }),
  );
  if (separator !== domainSeparator({ domain })) {
    throw refuse(`its DOMAIN_SEPARATOR does not match "${name}", "${version}", chain ${chainId}`);
  }
  const lacks = await missingCall(reader, target.usdc);
  if (lacks !== null) {
    throw refuse(
      `has no ${lacks} that takes a signature as bytes, so the contract cannot use it. ` +
        'FiatTokenV2_2 has one, V2_1 does not',
    );
  }
  return { name, version };
}

/**
 * Returns the name of a call that the token lacks. A token that has both calls refuses them with a
 * reason: the permit has expired, and the caller is not the payee. A token that lacks one reverts
 * without a reason.
 */
async function missingCall(reader: Reader, address: Hex): Promise<string | null> {
  const contract = { address, abi: SIGNATURE_ABI } as const;
  const permit = [zeroAddress, address, 0n, 0n, '0x'] as const;
  const transfer = [zeroAddress, address, 0n, 0n, 0n, zeroHash, '0x'] as const;
  const calls = [
    { ...contract, functionName: 'permit', args: permit },
    { ...contract, functionName: 'receiveWithAuthorization', args: transfer },
  ] as const;
  for (const call of calls) {
    const error: unknown = await reader.readContract(call as never).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error === null) continue;
    const isRevert = (one: unknown) => one instanceof ContractFunctionRevertedError;
    const revert = error instanceof BaseError ? error.walk(isRevert) : null;
    if (!(revert instanceof ContractFunctionRevertedError)) throw error;
    if (revert.raw === undefined || revert.raw === '0x') return call.functionName;
  }
  return null;
}
