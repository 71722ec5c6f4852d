<?php

declare(strict_types=1);

namespace Tapline;

/**
 * The result of a call is unknown: the money may have moved or not. Call resolve(), or repeat the
 * call with the same key. Never repeat it with another key.
 */
class OutcomeUnknownError extends TaplineError
{
    public function __construct(
        public readonly string $idempotencyKey,
        private readonly \Closure $ask,
        TaplineError $cause,
    ) {
        parent::__construct(
            $cause->getMessage() . ' The result is unknown: call resolve(), or repeat the same call'
                . ' with the same key. Never repeat it with another key.',
            $cause->status,
            $cause->errorType,
            $cause->errorCode ?? 'outcome_unknown',
            $cause->param,
            $cause->requestId,
            $cause,
        );
    }

    /**
     * Finds out the result of the call. Returns the object in its current state.
     * @throws TaplineError the refusal if the call was refused, or this error again while the
     *   result is unknown
     */
    public function resolve(): array
    {
        return ($this->ask)();
    }
}
