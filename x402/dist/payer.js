import { setTimeout as sleep } from 'node:timers/promises';
import { getAddress } from 'viem';
import { createSiweMessage } from 'viem/siwe';
/** A refusal of the payer API. */
export class PayerError extends Error {
    name = 'PayerError';
    status;
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}
const TIMEOUT_MS = 20_000;
/** The session is over; or the wallet's last signature is too old for a token. */
const SIGN_IN_STATUSES = [401, 403];
/** An agent token is used at once. */
const TOKEN_SECONDS = 60;
const DAY_SECONDS = 86_400;
const POLICY_DAYS = 365;
/** A permit and a policy are sent within seconds; a signature that leaks later is worth nothing. */
const DEADLINE_SECONDS = 900;
/** As much as JSON can say. */
const ALLOWANCE = Number.MAX_SAFE_INTEGER;
/** An approval takes a block. */
const LOOK_MS = 500;
const LOOKS = 240;
async function ask(baseUrl, { method, path, body, token }) {
    const headers = {};
    if (token !== undefined)
        headers.Authorization = `Bearer ${token}`;
    if (body !== undefined)
        headers['Content-Type'] = 'application/json';
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const url = `${baseUrl}/payer/v1${path}`;
    const response = await fetch(url, { method, headers, signal, ...sent });
    const answer = (await response.json());
    if (!response.ok)
        throw new PayerError(`${path}: ${answer.error?.message}`, response.status);
    return answer;
}
/** The network of the mode; the chain and its contracts follow from it. */
export async function findNetwork(baseUrl, livemode) {
    const { data } = await ask(baseUrl, { method: 'GET', path: '/networks' });
    const network = data.find((one) => one.livemode === livemode);
    if (network === undefined)
        throw new Error(`${baseUrl} has no network of the key's mode.`);
    return { ...network, usdc: getAddress(network.usdc) };
}
async function signIn(baseUrl, account, chainId) {
    const path = '/sign_in/nonce';
    const { nonce } = await ask(baseUrl, { method: 'POST', path });
    const { host, origin } = new URL(baseUrl);
    const message = createSiweMessage({
        address: account.address,
        version: '1',
        statement: 'Sign in to Tapline.',
        domain: host,
        uri: origin,
        chainId,
        nonce,
        issuedAt: new Date(),
    });
    const body = { message, signature: await account.signMessage({ message }) };
    const session = await ask(baseUrl, { method: 'POST', path: '/sign_in', body });
    return session.token;
}
export function openPayer(baseUrl, account, network) {
    let session = null;
    const authenticate = () => {
        session ??= signIn(baseUrl, account, network.chain_id).catch((error) => {
            session = null;
            throw error;
        });
        return session;
    };
    /** A session ends after a day, or when the service is told to end it: then there is another. */
    const call = async (asked) => {
        try {
            return await ask(baseUrl, { ...asked, token: await authenticate() });
        }
        catch (error) {
            if (!(error instanceof PayerError) || !SIGN_IN_STATUSES.includes(error.status))
                throw error;
            session = null;
            return ask(baseUrl, { ...asked, token: await authenticate() });
        }
    };
    const wallet = () => call({ method: 'GET', path: '/approvals' });
    return {
        wallet,
        createAgentToken: async (token) => {
            const body = { ...token, expires_in: TOKEN_SECONDS };
            const minted = call({ method: 'POST', path: '/agent_tokens', body });
            return (await minted).agent_token;
        },
        approve: async (limits) => {
            const body = await signApproval(account, await wallet(), limits);
            let sent = await call({ method: 'POST', path: '/approvals', body });
            for (let look = 0; sent.status === 'pending' && look < LOOKS; look++) {
                await sleep(LOOK_MS);
                sent = await call({ method: 'GET', path: `/approvals/${sent.id}` });
            }
            if (sent.status !== 'succeeded') {
                throw new Error(`The approval of the bridge wallet is ${sent.status}.`);
            }
        },
    };
}
/**
 * Written here and never taken from the service: a service that was broken into cannot have the
 * bridge sign anything else.
 */
async function signApproval(account, wallet, limits) {
    const now = Math.floor(Date.now() / 1000);
    const deadline = now + DEADLINE_SECONDS;
    const { acquirer, protocol } = wallet.fee_rates;
    const terms = {
        per_payment: limits.perPayment,
        per_period: limits.perDay,
        period_seconds: DAY_SECONDS,
        expires_at: now + POLICY_DAYS * DAY_SECONDS,
        max_fee_rate: acquirer + protocol,
        deadline,
    };
    const policy = { ...terms, signature: await signPolicy(account, wallet, terms) };
    // The policy bounds what is taken; the permit only lets the contract take anything at all.
    if (wallet.allowance >= ALLOWANCE / 2)
        return { policy };
    const permit = { value: ALLOWANCE, deadline };
    return { permit: { ...permit, signature: await signPermit(account, wallet, permit) }, policy };
}
function signPermit(account, wallet, { value, deadline }) {
    const names = ['owner:address', 'spender:address', 'value:uint256', 'nonce:uint256'];
    return account.signTypedData({
        domain: {
            ...wallet.usdc_domain,
            chainId: wallet.chain_id,
            verifyingContract: wallet.usdc,
        },
        types: { Permit: fieldsOf([...names, 'deadline:uint256']) },
        primaryType: 'Permit',
        message: {
            owner: account.address,
            spender: wallet.settlement,
            value: BigInt(value),
            nonce: BigInt(wallet.nonces.permit),
            deadline: BigInt(deadline),
        },
    });
}
function signPolicy(account, wallet, terms) {
    const limits = ['perPayment:uint48', 'perPeriod:uint48', 'periodSeconds:uint24'];
    const bounds = ['expiresAt:uint40', 'maxFeeRate:uint16', 'nonce:uint256', 'deadline:uint256'];
    const { chain_id: chainId, settlement: verifyingContract } = wallet;
    return account.signTypedData({
        domain: { name: 'Tapline Settlement', version: '1', chainId, verifyingContract },
        types: { SpendingPolicy: fieldsOf(['payer:address', ...limits, ...bounds]) },
        primaryType: 'SpendingPolicy',
        message: {
            payer: account.address,
            perPayment: terms.per_payment,
            perPeriod: terms.per_period,
            periodSeconds: terms.period_seconds,
            expiresAt: terms.expires_at,
            maxFeeRate: terms.max_fee_rate,
            nonce: BigInt(wallet.nonces.policy),
            deadline: BigInt(terms.deadline ?? 0),
        },
    });
}
/** `name:type`, as EIP-712 lists the fields of a message. */
function fieldsOf(names) {
    return names.map((one) => {
        const [name = '', type = ''] = one.split(':');
        return { name, type };
    });
}
