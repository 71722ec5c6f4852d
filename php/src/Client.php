<?php

declare(strict_types=1);

namespace Tapline;

/**
 * A client for one account and mode, without dependencies. Without arguments it reads
 * TAPLINE_API_KEY and TAPLINE_BASE_URL from the environment.
 */
final class Client
{
    public const VERSION = '0.1.0';
    /** The package's dated API version. It is sent, because a key's own version may differ. */
    private const API_VERSION = '2026-09-28';
    private const RUNNING = 'idempotency_request_in_progress';
    private const LONGEST_RETRY_AFTER_S = 60;

    private readonly string $apiKey;
    private readonly string $baseUrl;

    /**
     * @param ?\Closure $transport fn(string $method, string $url, array $headers, ?string $body,
     *   float $timeout): array{int, array<string, string>, string}: the response's status, headers
     *   (names in lower case) and body. It must throw if there is no response, and must not follow
     *   redirects, because that would send the key to another URL.
     */
    public function __construct(
        ?string $apiKey = null,
        ?string $baseUrl = null,
        private readonly float $timeout = 70,
        private readonly int $maxRetries = 3,
        private readonly ?\Closure $transport = null,
    ) {
        // Never send the environment's key to a URL that the program passes, because that URL may
        // come from an untrusted file.
        $key = $apiKey ?? ($baseUrl === null ? (getenv('TAPLINE_API_KEY') ?: null) : null);
        if ($key === null) {
            throw new UsageError('No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL, or call'
                . ' new Tapline\\Client($key, $baseUrl). TAPLINE_API_KEY is sent to'
                . ' TAPLINE_BASE_URL only, or to the sandbox.');
        }
        if (preg_match('/^tlsk_(test|live)_[0-9A-Za-z]+$/D', $key, $found) !== 1) {
            throw new UsageError('That is not a secret API key, which begins with tlsk_test_ or'
                . ' tlsk_live_. (Terminal keys begin with tldk_, signing secrets with whsec_.)');
        }
        $address = $baseUrl ?? (getenv('TAPLINE_BASE_URL') ?: null);
        if ($found[1] === 'live' && $address === null) {
            throw new UsageError('A live key needs the base URL of its network:'
                . ' https://.../api. Pass it or set TAPLINE_BASE_URL.');
        }
        $this->apiKey = $key;
        $trimmed = rtrim($address ?? 'http://127.0.0.1:4242/api', '/');
        $this->baseUrl = preg_replace('#/v1$#', '', $trimmed);
        // Only a port or a path may follow the host: the text before an @ would be a user name.
        $own = 'http://(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(/.*)?';
        if ($found[1] === 'live' && preg_match("#^(https:.*|$own)$#Di", $this->baseUrl) !== 1) {
            throw new UsageError("A live key is sent over https only, not to $this->baseUrl.");
        }
    }

    /** `$body`: amount, terminal; optional: order_id, description, metadata, expires_in. */
    public function createPaymentIntent(array $body, ?string $idempotencyKey = null): array
    {
        return $this->request('POST', '/payment_intents', $body, [], $idempotencyKey, true);
    }

    public function retrievePaymentIntent(string $id): array
    {
        return $this->request('GET', self::path('/payment_intents', $id));
    }

    public function cancelPaymentIntent(string $id, ?string $idempotencyKey = null): array
    {
        $path = self::path('/payment_intents', $id) . '/cancel';
        return $this->request('POST', $path, null, [], $idempotencyKey, true);
    }

    public function retrievePayment(string $id): array
    {
        return $this->request('GET', self::path('/payments', $id));
    }

    /** `$body`: payment; optional: amount (default: the rest), reason, metadata. */
    public function createRefund(array $body, ?string $idempotencyKey = null): array
    {
        return $this->request('POST', '/refunds', $body, [], $idempotencyKey, true);
    }

    public function retrieveRefund(string $id): array
    {
        return $this->request('GET', self::path('/refunds', $id));
    }

    /** Returns the report of a shift that has ended. */
    public function retrieveShift(string $id): array
    {
        return $this->request('GET', self::path('/shifts', $id));
    }

    /** Iterates over a list, for example '/payments', and fetches pages as needed. */
    public function list(string $path, array $query = []): \Generator
    {
        do {
            $page = $this->request('GET', $path, null, $query);
            yield from array_values($page['data']);
            $query['cursor'] = $page['next_cursor'];
        } while ($page['has_more']);
    }

    /**
     * Calls any operation of the API by its path below /v1. Set `$keyed` if the service stores the
     * response under the key, which makes retries safe.
     */
    public function request(
        string $method,
        string $path,
        ?array $body = null,
        array $query = [],
        ?string $idempotencyKey = null,
        bool $keyed = false,
    ): array {
        foreach ($body ?? [] as $name => $value) {
            if (is_float($value)) {
                throw new UsageError("$name is $value but must be an integer. Amounts are in USDC"
                    . " atoms: 2500000 is 2.50 USDC, which usdc('2.50') returns.",
                    param: (string) $name);
            }
        }
        if (str_starts_with($path, '/test_helpers') && str_starts_with($this->apiKey, 'tlsk_live')) {
            throw new UsageError('Test helpers simulate the customer in test mode only: use a'
                . ' tlsk_test_... key.');
        }
        $key = $method === 'POST' ? ($idempotencyKey ?? bin2hex(random_bytes(16))) : null;
        return $this->send([$method, $path, $body, $query, $key, $keyed]);
    }

    private function send(array $sent): array
    {
        [$method, , , , , $keyed] = $sent;
        $retries = $this->maxRetries;
        $doubtful = false;
        $deadline = microtime(true) + $this->timeout;
        for ($attempt = 0; ; $attempt++) {
            [$answer, $error, $isDoubtful, $retryAfter] = $this->attempt($sent);
            if ($error === null) {
                return $answer;
            }
            $doubtful = $doubtful || $isDoubtful;
            $waits = $error->errorCode === self::RUNNING && microtime(true) < $deadline;
            $mayTry = $waits || $retries-- > 0;
            $delay = $mayTry ? self::delay($attempt, $error, $retryAfter, $method, $keyed) : null;
            if ($delay === null) {
                // If the service refuses the request itself, no earlier attempt succeeded either,
                // because its stored response would have been replayed.
                $isRefusal = $error->errorType !== null && !$isDoubtful
                    && in_array($error->status, [400, 404, 409], true);
                throw $doubtful && !$isRefusal ? $this->unknown($sent, $error) : $error;
            }
            usleep((int) ($delay * 1_000_000));
        }
    }

    /** @return array{?array, ?TaplineError, bool, ?int} response, error, doubtful, retry after s */
    private function attempt(array $sent): array
    {
        [$method, $path, $body, $query, $key, $keyed] = $sent;
        $url = "$this->baseUrl/v1$path" . ($query === [] ? '' : '?' . http_build_query($query));
        $headers = [
            'Authorization' => "Bearer $this->apiKey",
            'User-Agent' => 'tapline-php/' . self::VERSION,
            'Service-Version' => self::API_VERSION,
        ];
        $text = null;
        if ($key !== null) {
            $headers['Idempotency-Key'] = $key;
        }
        if ($body !== null) {
            $headers['Content-Type'] = 'application/json';
            $text = json_encode($body, JSON_THROW_ON_ERROR);
        }
        try {
            $ask = $this->transport ?? self::overSockets(...);
            [$status, $answered, $answer] = $ask($method, $url, $headers, $text, $this->timeout);
            $parsed = json_decode($answer, true);
            if ($status >= 200 && $status < 300 && !is_array($parsed)) {
                throw new \RuntimeException('the response was truncated');
            }
        } catch (\Exception $cause) {
            $lost = new ConnectionFailed("No response: {$cause->getMessage()}.", previous: $cause);
            return [null, $lost, $keyed, null];
        }
        if ($status >= 200 && $status < 300) {
            return [$parsed, null, false, null];
        }
        $error = self::errorOf($status, $parsed);
        // Only this code guarantees that nothing was done. After any other server error, the action
        // may have been performed.
        $fault = $status >= 500 && $error->errorCode !== 'service_unavailable';
        $after = $answered['retry-after'] ?? '';
        $seconds = ctype_digit($after) ? (int) $after : null;
        return [null, $error, $keyed && ($fault || $error->errorCode === self::RUNNING), $seconds];
    }

    private static function errorOf(int $status, mixed $parsed): TaplineError
    {
        $error = is_array($parsed) ? ($parsed['error'] ?? null) : null;
        if (!is_array($error) || !is_string($error['type'] ?? null)) {
            return new TaplineError("The response ($status) is not from a Tapline API. Check the"
                . ' base URL: it must end with /api.', $status);
        }
        return new TaplineError(
            $error['message'] ?? $error['type'],
            $status,
            $error['type'],
            $error['code'] ?? null,
            $error['param'] ?? null,
            $error['request_id'] ?? null,
        );
    }

    /** Returns the seconds until the next attempt; null if another one is unsafe or useless. */
    private static function delay(
        int $attempt,
        TaplineError $error,
        ?int $retryAfter,
        string $method,
        bool $keyed,
    ): ?float {
        $code = $error->errorCode;
        $lost = $error instanceof ConnectionFailed || in_array($error->status, [500, 503], true);
        $refused = $error->status === 429 || in_array($code, ['service_unavailable', self::RUNNING]);
        if (!$refused && !($lost && ($keyed || in_array($method, ['GET', 'PATCH'], true)))) {
            return null;
        }
        if ($retryAfter !== null) {
            return $retryAfter <= self::LONGEST_RETRY_AFTER_S ? (float) $retryAfter : null;
        }
        $longest = min(0.15 * 2 ** $attempt, $code === self::RUNNING ? 1 : 8);
        return $longest * (0.5 + mt_rand() / mt_getrandmax() / 2);
    }

    private function unknown(array $sent, TaplineError $cause): OutcomeUnknownError
    {
        $ask = function () use ($sent, $cause): array {
            try {
                return $this->resolve($sent, $cause);
            } catch (OutcomeUnknownError $still) {
                throw $still;
            } catch (TaplineError $error) {
                // The service did not answer, so the result of the call is still unknown.
                $silent = $error instanceof ConnectionFailed || $error->status === 429;
                throw $silent || $error->status >= 500 ? $this->unknown($sent, $cause) : $error;
            }
        };
        return new OutcomeUnknownError($sent[4], $ask, $cause);
    }

    /** Looks the key up. An unknown key proves no failure: the request may still arrive. */
    private function resolve(array $sent, TaplineError $cause): array
    {
        [, $path, $body, , $key] = $sent;
        try {
            $known = $this->request('GET', '/idempotency_keys/' . rawurlencode($key));
        } catch (TaplineError $error) {
            if ($error->errorCode !== 'resource_missing') {
                throw $error;
            }
            $known = null;
        }
        if ($known !== null && $known['status'] === 'completed') {
            $resource = $known['resource'] ?? '';
            $places = ['pi' => '/payment_intents', 're' => '/refunds'];
            $where = $places[explode('_', $resource)[0]] ?? null;
            if ($where !== null && ($known['response_status'] ?? 0) < 400) {
                return $this->request('GET', "$where/$resource");
            }
            // Replays the stored refusal without performing anything.
            return $this->send($sent);
        }
        $order = $body['order_id'] ?? null;
        if ($known === null && $order !== null && $path === '/payment_intents') {
            $query = ['order_id' => $order, 'limit' => 1];
            $found = $this->request('GET', $path, null, $query)['data'];
            if ($found !== []) {
                return $found[0];
            }
        }
        throw $this->unknown($sent, $cause);
    }

    private static function path(string $below, string $id): string
    {
        if ($id === '') {
            throw new UsageError('The id is missing.', param: 'id');
        }
        return "$below/" . rawurlencode($id);
    }

    /**
     * Sends a request over PHP's own sockets, which need no extension. PHP's HTTP streams would
     * limit each wait for bytes, not the whole attempt.
     */
    private static function overSockets(
        string $method,
        string $url,
        array $headers,
        ?string $body,
        float $timeout,
    ): array {
        $ends = microtime(true) + $timeout;
        $to = parse_url($url);
        $isTls = strtolower($to['scheme']) === 'https';
        $port = $to['port'] ?? ($isTls ? 443 : 80);
        $context = stream_context_create(['ssl' => ['peer_name' => trim($to['host'], '[]')]]);
        $address = ($isTls ? 'tls' : 'tcp') . "://{$to['host']}:$port";
        $socket = @stream_socket_client($address, $code, $why, $timeout, context: $context);
        if ($socket === false) {
            $why = $why ?: (error_get_last()['message'] ?? 'the connection failed');
            throw new \RuntimeException($why);
        }
        try {
            $headers += [
                'Host' => $to['host'] . (isset($to['port']) ? ":$port" : ''),
                'Accept-Encoding' => 'identity',
                'Connection' => 'close',
            ] + ($body === null ? [] : ['Content-Length' => strlen($body)]);
            $lines = array_map(fn ($name, $value) => "$name: $value", array_keys($headers), $headers);
            $target = ($to['path'] ?? '/') . (isset($to['query']) ? "?{$to['query']}" : '');
            $head = "$method $target HTTP/1.1\r\n" . implode("\r\n", $lines) . "\r\n\r\n";
            return self::exchange($socket, $head . $body, $ends);
        } finally {
            fclose($socket);
        }
    }

    /** @param resource $socket */
    private static function exchange($socket, string $request, float $ends): array
    {
        while ($request !== '') {
            self::limit($socket, $ends);
            $written = @fwrite($socket, $request);
            if (!$written) {
                throw new \RuntimeException('the connection was lost');
            }
            $request = substr($request, $written);
        }
        $answer = '';
        do {
            self::limit($socket, $ends);
            $piece = (string) fread($socket, 65_536);
            $answer .= $piece;
            // Interim responses precede the response.
            $answer = preg_replace('#^HTTP/\S+ 1\d\d .*?\r\n\r\n#s', '', $answer);
            $parts = explode("\r\n\r\n", $answer, 2);
            $isWhole = preg_match('/^Content-Length: *(\d+) *\r?$/mi', $parts[0], $length) === 1
                && strlen($parts[1] ?? '') >= (int) $length[1];
            $meta = stream_get_meta_data($socket);
            if ($meta['timed_out']) {
                throw new \RuntimeException('no response arrived in time');
            }
        } while (!$isWhole && !($piece === '' && $meta['eof']));
        if (!$isWhole && $length !== []) {
            throw new \RuntimeException('the response was truncated');
        }
        return self::parse($parts[0], $parts[1] ?? '');
    }

    /** Limits the next wait to the rest of the attempt's time. */
    private static function limit($socket, float $ends): void
    {
        $left = $ends - microtime(true);
        if ($left <= 0) {
            throw new \RuntimeException('no response arrived in time');
        }
        stream_set_timeout($socket, (int) $left, (int) (fmod($left, 1) * 1_000_000));
    }

    private static function parse(string $head, string $body): array
    {
        if (preg_match('#^HTTP/\S+ (\d{3})#', $head, $found) !== 1) {
            throw new \RuntimeException('the connection was lost');
        }
        $answered = [];
        foreach (array_slice(explode("\r\n", $head), 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $answered[strtolower($name)] = trim($value);
        }
        if (strtolower($answered['transfer-encoding'] ?? '') === 'chunked') {
            if (!str_ends_with($body, "\r\n\r\n")) {
                throw new \RuntimeException('the response was truncated');
            }
            $chunks = fopen('php://temp', 'w+');
            fwrite($chunks, $body);
            rewind($chunks);
            stream_filter_append($chunks, 'dechunk', STREAM_FILTER_READ);
            $body = stream_get_contents($chunks);
            fclose($chunks);
        }
        return [(int) $found[1], $answered, $body];
    }
}
