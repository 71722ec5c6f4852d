<?php

declare(strict_types=1);

// Loads the package's classes in projects without Composer. Composer's autoloader does not need it.
spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/src/' . strtr(substr($class, strlen('Tapline\\')), '\\', '/') . '.php';
    if (preg_match('/^Tapline(\\\\[A-Za-z0-9]+)+$/D', $class) === 1 && is_file($file)) {
        require $file;
    }
});
require_once __DIR__ . '/src/functions.php';
