<?php

// Does what conformance.test.ts says, a line of JSON each, and says what came of it.

require __DIR__ . '/../../php/autoload.php';

use Tapline\Client;
use Tapline\ConnectionFailed;
use Tapline\OutcomeUnknownError;
use Tapline\TaplineError;

function outcome(callable $act, ?OutcomeUnknownError &$unknown): array
{
    try {
        return ['outcome' => 'ok', 'id' => $act()['id']];
    } catch (OutcomeUnknownError $error) {
        $unknown = $error;
        return ['outcome' => 'unknown', 'key' => $error->idempotencyKey];
    } catch (ConnectionFailed) {
        return ['outcome' => 'no_answer'];
    } catch (TaplineError) {
        return ['outcome' => 'refused'];
    }
}

$unknown = null;
while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    if ($asked['resolve'] ?? false) {
        echo json_encode(outcome($unknown->resolve(...), $unknown)), "\n";
        continue;
    }
    $tapline = new Client($asked['api_key'], $asked['base_url'], $asked['timeout'], $asked['retries']);
    $order = ['amount' => 2500000, 'terminal' => 'tml_1', 'order_id' => 'A-1'];
    $endpoint = ['url' => 'https://shop.example', 'enabled_events' => ['*']];
    $call = [
        'create' => fn () => $tapline->createPaymentIntent($order, $asked['key'] ?? null),
        'refund' => fn () => $tapline->createRefund(['payment' => 'pay_1']),
        'retrieve' => fn () => $tapline->retrievePayment('pay_1'),
        'register' => fn () => $tapline->request('POST', '/webhook_endpoints', $endpoint),
    ][$asked['call']];
    echo json_encode(outcome($call, $unknown)), "\n";
}
