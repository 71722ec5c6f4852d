// Revokes everything that a payer's wallet has approved. It contacts the chain only.
import { createWalletClient, getAddress, http, parseAbi, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { NODE_URL, SETTLEMENT, USDC, WALLET_KEY } = process.env;
const settlement = getAddress(SETTLEMENT ?? '');
const usdc = getAddress(USDC ?? '');
const account = privateKeyToAccount(`0x${(WALLET_KEY ?? '').replace('0x', '')}`);
const transport = http(NODE_URL);
const client = createWalletClient({ account, transport, pollingInterval: 1_000 }).extend(
  publicActions,
);
const abi = parseAbi([
  'function revokePolicy()',
  'function approve(address spender, uint256 value) returns (bool)',
]);

const ended = await client.writeContract({
  chain: null,
  address: settlement,
  abi,
  functionName: 'revokePolicy',
});
console.log(`policy: ${(await client.waitForTransactionReceipt({ hash: ended })).status}`);
const taken = await client.writeContract({
  chain: null,
  address: usdc,
  abi,
  functionName: 'approve',
  args: [settlement, 0n],
});
console.log(`allowance: ${(await client.waitForTransactionReceipt({ hash: taken })).status}`);
