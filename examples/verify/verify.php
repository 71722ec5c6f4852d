<?php
// Verifies a Tapline webhook: php verify.php <secret> <Service-Signature> < body

/** The event, or null when the message is not from the network or older than five minutes. */
function verify_webhook(string $rawBody, string $header, string $secret): ?array {
    $times = [];
    $given = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', trim($part), 2), 2, '');
        if ($name === 't') $times[] = $value;
        if ($name === 'v1') $given[] = $value;
    }
    $timestamp = count($times) === 1 ? $times[0] : '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) return null;
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    foreach ($given as $one) {
        if (hash_equals($expected, $one)) return json_decode($rawBody, true);
    }
    return null;
}

// In a request: file_get_contents('php://input') and $_SERVER['HTTP_SERVICE_SIGNATURE'].
$event = verify_webhook(file_get_contents('php://stdin'), $argv[2], $argv[1]);
if ($event === null) exit(1);
echo $event['type'], "\n";
