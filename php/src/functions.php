<?php

declare(strict_types=1);

namespace Tapline;

/** Converts USDC, as decimal text, to atoms: usdc('2.50') is 2500000. */
function usdc(mixed $amount): int
{
    // The parameter is not declared as string, because PHP might convert a float, and 0.1 + 0.2 is
    // not 0.3.
    $text = is_string($amount) ? $amount : '';
    if (preg_match('/^([0-9]{1,9})(?:\.([0-9]{1,6}))?$/D', $text, $found) !== 1) {
        $given = is_string($amount) ? "'$amount'" : 'a value of type ' . get_debug_type($amount);
        throw new UsageError("usdc() received $given. It takes a string with up to 6"
            . " decimals: usdc('2.50').");
    }
    return (int) ($found[1] . str_pad($found[2] ?? '', 6, '0'));
}

/**
 * Derives a valid order_id from your shop's own order name. A name of up to 8 valid characters
 * stays unchanged; any other name always maps to the same 8 characters, in all Tapline clients.
 */
function order_id(string $order): string
{
    if ($order === '') {
        throw new UsageError("order_id() received ''. It takes the name of an order:"
            . " order_id('order_01HZX').");
    }
    if (preg_match('/^[A-Za-z0-9_-]{1,8}$/D', $order) === 1) {
        return $order;
    }
    $hash = hash('fnv1a64', $order, true);
    $folded = substr($hash, 2) ^ ("\0\0\0\0" . substr($hash, 0, 2));
    return strtr(base64_encode($folded), '+/', '-_');
}

/**
 * Checks a webhook's signature and age, and returns its event.
 * @param string $rawBody file_get_contents('php://input')
 * @param ?string $header $_SERVER['HTTP_SERVICE_SIGNATURE'] ?? null
 */
function verify(string $rawBody, ?string $header, string $secret, int $tolerance = 300): array
{
    $times = [];
    $given = [];
    foreach (explode(',', $header ?? '') as $part) {
        [$name, $value] = array_pad(explode('=', trim($part), 2), 2, '');
        if ($name === 't') {
            $times[] = $value;
        }
        if ($name === 'v1' && preg_match('/^[0-9a-f]{64}\z/', $value) === 1) {
            $given[] = $value;
        }
    }
    // Two timestamps would make the header ambiguous.
    $timestamp = count($times) === 1 ? $times[0] : '';
    if (preg_match('/^[0-9]{1,12}\z/', $timestamp) !== 1 || $given === []) {
        throw new WebhookVerificationError('The Service-Signature is not t=...,v1=....');
    }
    if ($secret === '') {
        throw new WebhookVerificationError('The secret is empty: it begins with whsec_.');
    }
    if (abs(time() - (int) $timestamp) > $tolerance) {
        throw new WebhookVerificationError('The signature is too old, or the local clock is wrong.');
    }
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    foreach ($given as $one) {
        if (hash_equals($expected, $one)) {
            return json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR);
        }
    }
    throw new WebhookVerificationError('The signature does not match: wrong secret or altered'
        . ' body.');
}
