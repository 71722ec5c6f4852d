<?php

// Runs the calls that conformance.test.ts sends as lines of JSON, and prints each result as a line.

require __DIR__ . '/../../php/autoload.php';

use Tapline\Client;
use Tapline\ConnectionFailed;
use Tapline\OutcomeUnknownError;
use Tapline\Psr18;
use Tapline\TaplineError;

use function Tapline\verify;

function outcome(callable $act, ?OutcomeUnknownError &$unknown): array
{
    try {
        $made = $act();
        $lines = $made['line_items'] ?? null;
        return ['outcome' => 'ok', 'id' => $made['id'], 'line_items' => $lines];
    } catch (OutcomeUnknownError $error) {
        $unknown = $error;
        return ['outcome' => 'unknown', 'key' => $error->idempotencyKey];
    } catch (ConnectionFailed) {
        return ['outcome' => 'no_answer'];
    } catch (TaplineError) {
        return ['outcome' => 'refused'];
    }
}

/** `psr18`: Guzzle, from Debian's package, sends the requests. */
function transport(float $timeout): ?Closure
{
    if (($GLOBALS['argv'][1] ?? '') !== 'psr18') {
        return null;
    }
    require_once '/usr/share/php/GuzzleHttp/autoload.php';
    $factory = new GuzzleHttp\Psr7\HttpFactory();
    $http = new GuzzleHttp\Client(['timeout' => $timeout]);
    return Psr18::transport($http, $factory, $factory);
}

$unknown = null;
while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    if ($asked['resolve'] ?? false) {
        echo json_encode(outcome($unknown->resolve(...), $unknown)), "\n";
        continue;
    }
    if (isset($asked['verify'])) {
        ['body' => $body, 'headers' => $headers, 'secret' => $secret] = $asked['verify'];
        // PHP's web servers join a repeated header in this way.
        $header = implode(', ', array_column($headers, 1));
        echo json_encode(outcome(fn () => verify($body, $header, $secret), $unknown)), "\n";
        continue;
    }
    $transport = transport($asked['timeout']);
    $tapline = new Client(
        $asked['api_key'],
        $asked['base_url'],
        $asked['timeout'],
        $asked['retries'],
        $transport,
    );
    $order = ['amount' => 2500000, 'terminal' => 'tml_1', 'order_id' => 'A-1'];
    $endpoint = ['url' => 'https://shop.example', 'enabled_events' => ['*']];
    $returned = [['line' => 0, 'quantity' => 1], ['line' => 1, 'quantity' => '0.350']];
    $call = [
        'create' => fn () => $tapline->createPaymentIntent($order, $asked['key'] ?? null),
        'refund' => fn () => $tapline->createRefund(['payment' => 'pay_1', 'line_items' => $returned]),
        'retrieve' => fn () => $tapline->retrievePayment('pay_1'),
        'register' => fn () => $tapline->request('POST', '/webhook_endpoints', $endpoint),
    ][$asked['call']];
    echo json_encode(outcome($call, $unknown)), "\n";
}
