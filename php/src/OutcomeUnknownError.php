<?php

declare(strict_types=1);

namespace Tapline;

/** Money may have moved or not. Ask with resolve(); never send the call with another key. */
class OutcomeUnknownError extends TaplineError
{
    public function __construct(
        public readonly string $idempotencyKey,
        private readonly \Closure $ask,
        TaplineError $cause,
    ) {
        parent::__construct(
            $cause->getMessage() . ' The outcome is not known: ask with resolve(), or send the same'
                . ' call with the same key again. Never send it with another key.',
            $cause->status,
            $cause->errorType,
            $cause->errorCode ?? 'outcome_unknown',
            $cause->param,
            $cause->requestId,
            $cause,
        );
    }

    /** The object as it is now; throws the refusal, or this error again while nobody knows. */
    public function resolve(): array
    {
        return ($this->ask)();
    }
}
