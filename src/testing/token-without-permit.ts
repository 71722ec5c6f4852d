import { type Hex, keccak256, toFunctionSelector, toHex } from 'viem';

const TAKEN = [
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'permit(address,address,uint256,uint256,bytes)',
  'nonces(address)',
  'DOMAIN_SEPARATOR()',
];
/** Where the token's proxy (contracts/TestUSDC.sol) keeps the address of its code. */
const LOGIC_SLOT = keccak256(toHex('tapline.test-usdc.logic'));

interface TokenOnChain {
  readonly rpc: { call(method: string, params: readonly unknown[]): Promise<unknown> };
  readonly usdc: string;
}

/** The network's token has no EIP-2612 any more. @returns how to give it back. */
export async function takePermit({ rpc, usdc }: TokenOnChain): Promise<() => Promise<void>> {
  const word = await rpc.call('eth_getStorageAt', [usdc, LOGIC_SLOT, 'latest']);
  const logic: Hex = `0x${String(word).slice(-40)}`;
  const code = String(await rpc.call('eth_getCode', [logic, 'latest']));
  // `PUSH4 selector, EQ`, in the list of its functions.
  const without = TAKEN.map((name) => toFunctionSelector(name).slice(2)).reduce(
    (text, selector) => text.replaceAll(`63${selector}14`, '63ffffffff14'),
    code,
  );
  await rpc.call('anvil_setCode', [logic, without]);
  return async () => void (await rpc.call('anvil_setCode', [logic, code]));
}
