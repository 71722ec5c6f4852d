<?php

declare(strict_types=1);

namespace Tapline;

/** The arguments were invalid. Nothing was sent. */
class UsageError extends TaplineError
{
}
