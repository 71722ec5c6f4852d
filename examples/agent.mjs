// An agent that buys a paid resource with x402. Node.js 20 or newer; it needs the packages
// @x402/fetch, @x402/evm and viem. Only the faucet is specific to Tapline.
//
//   node examples/agent.mjs http://127.0.0.1:8789

import { readFile } from 'node:fs/promises';
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';

const url = process.argv[2] ?? 'http://127.0.0.1:8789';
const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const { chain_id: chainId, usdc: asset } = sandbox.test;
const network = `eip155:${chainId}`;
const wallet = privateKeyToAccount(process.env.AGENT_PRIVATE_KEY ?? generatePrivateKey());

/** Gets test USDC for a wallet that signs in. A real agent's wallet already has some. */
async function askFaucet() {
  const api = `${sandbox.base_url}/payer/v1`;
  const post = async (path, body, token) => {
    const headers = { 'Content-Type': 'application/json' };
    if (token !== undefined) headers.Authorization = `Bearer ${token}`;
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${api}${path}`, sent);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error.message);
    return answer;
  };
  const { nonce } = await post('/sign_in/nonce', {});
  const { address } = wallet;
  const { host: domain, origin: uri } = new URL(sandbox.web_url);
  const message = createSiweMessage({ address, domain, uri, chainId, nonce, version: '1' });
  const signature = await wallet.signMessage({ message });
  const { token } = await post('/sign_in', { message, signature });
  await post('/faucet', { amount: 1_000_000 }, token);
}

await askFaucet();
const fetchAndPay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network, client: new ExactEvmScheme(wallet) }],
  // The client's own safeguard: it pays only in the tokens listed here.
  spendControls: { allowedAssets: [{ network, asset }] },
});
const response = await fetchAndPay(url);
if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
const { transaction } = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE'));
console.log(`Paid in ${transaction}: ${JSON.stringify(await response.json())}`);
