<?php

declare(strict_types=1);

namespace Tapline;

/** The message is not from the service, or too old. Answer 400 and do nothing. */
class WebhookVerificationError extends TaplineError
{
}
