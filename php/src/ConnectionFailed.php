<?php

declare(strict_types=1);

namespace Tapline;

/** No answer came to a call that moves no money. */
class ConnectionFailed extends TaplineError
{
}
