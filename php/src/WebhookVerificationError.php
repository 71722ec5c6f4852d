<?php

declare(strict_types=1);

namespace Tapline;

/** The message is not from the service, or is too old. Respond with 400 and do nothing. */
class WebhookVerificationError extends TaplineError
{
}
