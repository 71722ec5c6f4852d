// A shop with the unmodified packages of x402 servers. It prints its URL.
//   node shop.mjs <facilitator> <network> <payTo> <asset> <amount> <name> <version>
import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware } from '@x402/express';
import {
  declarePaymentIdentifierExtension,
  PAYMENT_IDENTIFIER,
  paymentIdentifierResourceServerExtension,
} from '@x402/extensions/payment-identifier';
import express from 'express';

const [facilitator, network, payTo, asset, amount, name, version] = process.argv.slice(2);
const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator }))
  .register(network, new ExactEvmScheme())
  .registerExtension(paymentIdentifierResourceServerExtension);
const price = { asset, amount, extra: { name, version } };
const accepts = { scheme: 'exact', network, payTo, price, maxTimeoutSeconds: 300 };
const app = express();
app.use(
  paymentMiddleware(
    {
      'GET /named': {
        accepts,
        extensions: { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension() },
      },
      'GET /plain': { accepts },
    },
    server,
  ),
);
for (const path of ['/named', '/plain']) app.get(path, (_, response) => response.json({ path }));
const listening = app.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${listening.address().port}`);
});
