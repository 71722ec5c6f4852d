// Withdraws a merchant's whole balance to its own wallet. It contacts the chain only.
import { createWalletClient, getAddress, http, parseAbi, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { NODE_URL, SETTLEMENT, MERCHANT, WALLET_KEY } = process.env;
const address = getAddress(SETTLEMENT ?? '');
const account = privateKeyToAccount(`0x${(WALLET_KEY ?? '').replace('0x', '')}`);
const transport = http(NODE_URL);
const client = createWalletClient({ account, transport, pollingInterval: 1_000 }).extend(
  publicActions,
);
const abi = parseAbi([
  'function merchantAccount(uint32 merchant) view returns (address wallet, uint96 balance, uint40 heldUntil)',
  'function withdrawOwn(uint32 merchant, uint64 amount)',
]);

const merchant = Number(MERCHANT);
const [wallet, balance, heldUntil] = await client.readContract({
  address,
  abi,
  functionName: 'merchantAccount',
  args: [merchant],
});
console.log(`Merchant ${merchant}: ${balance} atoms for ${wallet}`);
if (wallet !== account.address) throw new Error('This key is not that wallet’s.');
if (heldUntil * 1000 > Date.now()) {
  throw new Error(`Nothing is paid out before ${new Date(heldUntil * 1000).toISOString()}.`);
}
if (balance === 0n) throw new Error('There is nothing to withdraw.');
const hash = await client.writeContract({
  chain: null,
  address,
  abi,
  functionName: 'withdrawOwn',
  args: [merchant, balance],
});
const { status } = await client.waitForTransactionReceipt({ hash });
console.log(`${hash}: ${status}`);
