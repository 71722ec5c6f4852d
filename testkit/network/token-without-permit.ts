import { type Hex, keccak256, toFunctionSelector, toHex } from 'viem';

const TAKEN = [
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'permit(address,address,uint256,uint256,bytes)',
  'nonces(address)',
  'DOMAIN_SEPARATOR()',
];
/**
 * Storage slot in which the token's proxy (contracts/TestUSDC.sol) stores the address of its
 * implementation.
 */
const LOGIC_SLOT = keccak256(toHex('tapline.test-usdc.logic'));

interface TokenOnChain {
  readonly rpc: { call(method: string, params: readonly unknown[]): Promise<unknown> };
  readonly usdc: string;
}

async function replaceCode(
  { rpc, usdc }: TokenOnChain,
  change: (code: string) => string,
): Promise<() => Promise<void>> {
  const word = await rpc.call('eth_getStorageAt', [usdc, LOGIC_SLOT, 'latest']);
  const logic: Hex = `0x${String(word).slice(-40)}`;
  const code = String(await rpc.call('eth_getCode', [logic, 'latest']));
  await rpc.call('anvil_setCode', [logic, change(code)]);
  return async () => void (await rpc.call('anvil_setCode', [logic, code]));
}

/**
 * Disables functions by changing their selectors in the bytecode's dispatcher (PUSH4 selector, EQ).
 */
function without(code: string, names: readonly string[]): string {
  return names
    .map((name) => toFunctionSelector(name).slice(2))
    .reduce((text, selector) => text.replaceAll(`63${selector}14`, '63ffffffff14'), code);
}

/**
 * Removes EIP-2612 permits from the network's token.
 * @returns a function that restores them
 */
export function takePermit(token: TokenOnChain): Promise<() => Promise<void>> {
  return replaceCode(token, (code) => without(code, TAKEN));
}

const NAME = 'Test USD Coin';

/**
 * Renames the network's token, as Circle could, in its functions and its EIP-712 domain.
 * @returns a function that undoes this
 */
export async function renameToken(
  token: TokenOnChain,
  { name, isReported = true }: { readonly name: string; readonly isReported?: boolean },
): Promise<() => Promise<void>> {
  if (name.length !== NAME.length) throw new Error(`a name of ${NAME.length} letters`);
  const bare = (hex: Hex) => hex.slice(2);
  return replaceCode(token, (code) => {
    const renamed = code
      .replaceAll(bare(toHex(NAME)), bare(toHex(name)))
      .replaceAll(bare(keccak256(toHex(NAME))), bare(keccak256(toHex(name))));
    return isReported ? renamed : without(renamed, ['name()', 'eip712Domain()']);
  });
}
