<?php

declare(strict_types=1);

namespace Tapline;

/** The call could not have worked, and nothing was sent. */
class UsageError extends TaplineError
{
}
