<?php

declare(strict_types=1);

namespace Tapline;

/** A call got no response. A call that moves money throws an OutcomeUnknownError instead. */
class ConnectionFailed extends TaplineError
{
}
