<?php

declare(strict_types=1);

namespace Tapline;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Sends the requests with your own HTTP client, such as Guzzle, Symfony's or one that logs:
 *
 *     $factory = new GuzzleHttp\Psr7\HttpFactory();
 *     $http = new GuzzleHttp\Client(['timeout' => 70]);
 *     $tapline = new Tapline\Client(transport: Tapline\Psr18::transport($http, $factory, $factory));
 *
 * PSR-18 knows no time limit: set it on your client. It follows no redirect, and returns answers of
 * every status. A client of yours that retries by itself is safe where the service keeps the key.
 */
final class Psr18
{
    public static function transport(
        ClientInterface $client,
        RequestFactoryInterface $requests,
        StreamFactoryInterface $streams,
    ): \Closure {
        return static function (
            string $method,
            string $url,
            array $headers,
            ?string $body,
        ) use (
            $client,
            $requests,
            $streams,
        ): array {
            $request = $requests->createRequest($method, $url);
            foreach ($headers as $name => $value) {
                $request = $request->withHeader($name, $value);
            }
            if ($body !== null) {
                $request = $request->withBody($streams->createStream($body));
            }
            $response = $client->sendRequest($request);
            $answered = [];
            foreach (array_keys($response->getHeaders()) as $name) {
                $answered[strtolower((string) $name)] = $response->getHeaderLine((string) $name);
            }
            return [$response->getStatusCode(), $answered, (string) $response->getBody()];
        };
    }
}
