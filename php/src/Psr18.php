<?php

declare(strict_types=1);

namespace Tapline;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Sends the requests with your own PSR-18 HTTP client, such as Guzzle or Symfony's:
 *
 *     $factory = new GuzzleHttp\Psr7\HttpFactory();
 *     $http = new GuzzleHttp\Client(['timeout' => 70]);
 *     $tapline = new Tapline\Client(transport: Tapline\Psr18::transport($http, $factory, $factory));
 *
 * PSR-18 has no time limit, so set one on your client. The client must not follow redirects and
 * must return responses of every status. If it retries on its own, it may only retry calls whose
 * response the service stores under the key.
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
