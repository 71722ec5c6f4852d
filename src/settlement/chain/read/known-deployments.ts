import {
  decodeFunctionData,
  isAddressEqual,
  parseAbi,
  size,
  toFunctionSelector,
  zeroAddress,
} from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { readCodeHash } from '#settlement/chain/read/code-size.ts';
import { WALLET_FACTORIES } from '#settlement/chain-profiles.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** The factory calls of Coinbase Smart Wallet and Safe. */
const FACTORY = parseAbi([
  'function createAccount(bytes[] owners, uint256 nonce)',
  'function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce)',
  'function createChainSpecificProxyWithNonce(address singleton, bytes initializer, uint256 salt)',
  'function createProxyWithCallback(address singleton, bytes setup, uint256 salt, address)',
  'function createProxy(address singleton, bytes data)',
]);
const SELECTORS = FACTORY.map((item) => toFunctionSelector(item));
const SAFE = parseAbi([
  'function setup(address[], uint256, address to, bytes data, address, address, uint256, address)',
]);
const SETUP = parseAbi([
  'function setupToL2(address l2Singleton)',
  'function enableModules(address[] modules)',
]);

/**
 * The code of Safe and SafeL2 1.3.0, 1.4.1 and 1.5.0, as keccak256: @safe-global/safe-deployments
 * 1.37.56. The code is compared, because its address differs between chains.
 */
const SINGLETONS: readonly Hex[] = [
  '0xbba688fbdb21ad2bb58bc320638b43d94e7d100f6f3ebaab0a4e4de6304b1c2e',
  '0x21842597390c4c6e3c1239e434a682b054bd9548eee5e9b1d6a4482731023c0f',
  '0x1fe2df852ba3299d6534ef416eefa406e56ced995bca886ab7a553e6d0c5e1c4',
  '0xb1f926978a0f44a2c0ec8fe822418ae969bd8c3f18d61e5103100339894f81ff',
  '0xdda019cbd7c867a533a2a86e5c53434fdc50b13122b5a5ddb4a8df61b31c20f2',
  '0x180193227186ccb85316c94db1f0d156ed932b14712cfaac78901899178572dc',
];

/**
 * Libraries that a Safe may run while it is set up: SafeToL2Setup 1.4.1 and 1.5.0, SafeModuleSetup
 * 0.2.0 and 0.3.0. They are deployed with CREATE2, so each address determines its code.
 */
const SETUP_LIBRARIES: readonly Hex[] = [
  '0xBD89A1CE4DDe368FFAB0eC35506eEcE0b1fFdc54',
  '0x900C7589200010D6C6eCaaE5B06EBe653bc2D82a',
  '0x8EcD4ec46D4D2a6B64fE960B3D64e8B94B2234eb',
  '0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47',
];

/** An owner of a Coinbase Smart Wallet is an address, or the two coordinates of a public key. */
const OWNER_BYTES = [32, 64];

/**
 * True if a factory's call runs only code that is known: a payer chooses the call data, and other
 * code could use up the operator's gas. Other calls than those of Coinbase and Safe are left to the
 * operator who has listed their factory.
 * @throws RpcUnavailable
 */
export async function isKnownDeployment(
  chain: Chain,
  { factory, data }: { readonly factory: Hex; readonly data: Hex },
): Promise<boolean> {
  if (!SELECTORS.includes(data.slice(0, 10).toLowerCase() as Hex)) {
    return !WALLET_FACTORIES.some((one) => isAddressEqual(one, factory));
  }
  const call = decoded(FACTORY, data);
  switch (call?.functionName) {
    case 'createAccount':
      return call.args[0].every((owner) => OWNER_BYTES.includes(size(owner)));
    case 'createProxyWithNonce':
    case 'createChainSpecificProxyWithNonce':
      return isKnownSafe(chain, call.args[0], call.args[1]);
    default:
      return false;
  }
}

async function isKnownSafe(chain: Chain, singleton: Hex, initializer: Hex): Promise<boolean> {
  const setup = decoded(SAFE, initializer);
  if (setup === null) return false;
  const [, , to, data, , , payment] = setup.args;
  const singletons = [singleton];
  if (!isAddressEqual(to, zeroAddress)) {
    const library = decoded(SETUP, data);
    if (library === null || !SETUP_LIBRARIES.some((one) => isAddressEqual(one, to))) return false;
    if (library.functionName === 'setupToL2') singletons.push(library.args[0]);
  }
  if (payment !== 0n) return false;
  const urgent = { urgent: true } as const;
  const hashes = await Promise.all(
    singletons.map((address) => readCodeHash(chain.rpc, address, urgent)),
  );
  return hashes.every((hash) => SINGLETONS.includes(hash));
}

/** Decodes a call; `null` if it is another one, or malformed. */
function decoded<const Abi extends Parameters<typeof decodeFunctionData>[0]['abi']>(
  abi: Abi,
  data: Hex,
) {
  try {
    return decodeFunctionData({ abi, data });
  } catch {
    return null;
  }
}
