<?php

declare(strict_types=1);

namespace Tapline;

/** A refusal: branch on `errorCode`; handle codes that you do not know by `errorType`. */
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
