<?php

declare(strict_types=1);

namespace Tapline;

/**
 * An error of this package. Branch on `errorCode`. New codes may be added: handle unknown ones by
 * `errorType`.
 */
class TaplineError extends \RuntimeException
{
    public function __construct(
        string $message,
        public readonly ?int $status = null,
        public readonly ?string $errorType = null,
        public readonly ?string $errorCode = null,
        public readonly ?string $param = null,
        public readonly ?string $requestId = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
