import { Tapline } from 'tapline';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork, openPayer } from './payer.js';
import { totalOf } from './price.js';
import { settle } from './settle.js';
import { sweep } from './sweep.js';
import { openToken } from './token.js';
import { verify } from './verify.js';
import { SCHEME, X402_VERSION } from './wire.js';
const WAIT_MS = 25_000;
const SWEEP_MS = 60_000;
/** USDC can be renamed; the network notices within half a minute. */
const TOKEN_MS = 20_000;
/** Seconds in which a client's signature may be used. */
const SIGNATURE_SECONDS = 60;
/** A policy that ends within these days is signed anew at the start. */
const LEAST_POLICY_DAYS = 30;
const DAY_MS = 86_400_000;
export async function openFacilitator(options) {
    const { seller, refresh } = await openSeller(options);
    const waitMs = options.waitMs ?? WAIT_MS;
    const { onError = (error) => console.error(error) } = options;
    const seen = new Set();
    const { facts } = seller.token;
    const network = `eip155:${facts.chainId}`;
    const sweepNow = () => sweep(seller, seen, new Date());
    const timer = setInterval(() => {
        Promise.all([refresh(), sweepNow()]).catch(onError);
    }, options.sweepMs ?? SWEEP_MS);
    const renaming = setInterval(() => {
        followToken(options, facts).catch(onError);
    }, TOKEN_MS);
    // What a process before this one left behind.
    sweepNow().catch(onError);
    return {
        bridge: seller.bridge,
        requirements: ({ price, resource }) => ({
            scheme: SCHEME,
            network,
            asset: facts.usdc,
            amount: String(totalOf(price, seller.feeRates())),
            payTo: seller.bridge,
            maxTimeoutSeconds: SIGNATURE_SECONDS,
            // A signature buys the resource that it was first presented for.
            extra: { ...facts.domain, resource },
        }),
        verify: (payload, requirements) => verify(seller, { payload, requirements }),
        settle: (payload, requirements) => settle(seller, { payload, requirements }, { waitMs }),
        supported: () => ({
            kinds: [{ x402Version: X402_VERSION, scheme: SCHEME, network }],
            extensions: [],
            signers: { [network]: [seller.bridge] },
        }),
        sweep: sweepNow,
        close: () => {
            clearInterval(timer);
            clearInterval(renaming);
        },
    };
}
/** Clients sign for the token by its name: a renamed one is asked for by the new name. */
async function followToken(options, { domain }) {
    const isLive = options.apiKey.startsWith('tlsk_live_');
    const network = await findNetwork(options.baseUrl.replace(/\/+$/, ''), isLive);
    Object.assign(domain, network.usdc_domain);
}
async function openSeller(options) {
    const { account, terminal, apiKey, rpcUrl } = options;
    const baseUrl = options.baseUrl.replace(/\/+$/, '');
    const merchant = new Tapline(apiKey, { baseUrl });
    const wallet = privateKeyToAccount(options.privateKey);
    const network = await findNetwork(baseUrl, apiKey.startsWith('tlsk_live_'));
    const payer = openPayer(baseUrl, wallet, network);
    const { usdc, usdc_domain: domain, chain_id: chainId } = network;
    const token = openToken({ rpcUrl, chainId, usdc, domain }, wallet);
    await approve(payer, options.limits);
    let { fee_rates: rates } = await payer.wallet();
    const refresh = async () => {
        rates = (await payer.wallet()).fee_rates;
    };
    const feeRates = () => rates;
    const bridge = wallet.address;
    const seller = { merchant, account, terminal, payer, token, bridge, feeRates };
    return { seller, refresh };
}
/** What the bridge has allowed already is not signed again. */
async function approve(payer, limits) {
    const { policy } = await payer.wallet();
    const enough = policy !== null &&
        policy.per_payment >= limits.perPayment &&
        policy.per_period >= limits.perDay &&
        Date.parse(policy.expires_at) > Date.now() + LEAST_POLICY_DAYS * DAY_MS;
    if (!enough)
        await payer.approve(limits);
}
