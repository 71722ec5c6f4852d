// Buys the resource at a URL, with axios and the unmodified package @x402/axios.
//   node buy.mjs <address> <private key> <chain id> <usdc>
import { wrapAxiosWithPaymentFromConfig } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';

const [url, privateKey, chainId, asset] = process.argv.slice(2);
const network = `eip155:${chainId}`;
const client = wrapAxiosWithPaymentFromConfig(axios.create(), {
  schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(privateKey)) }],
  spendControls: { allowedAssets: [{ network, asset }] },
});
const { status, data, headers } = await client.get(url);
console.log(JSON.stringify({ status, data, receipt: headers['payment-response'] }));
