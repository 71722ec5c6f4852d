import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { readConfig } from '#settings/config.ts';
import { refuseUnknown, SETTING_NAMES } from '#settings/setting-names.ts';

function refusalOf(name: string, value = 'x'): string | null {
  try {
    refuseUnknown({ [name]: value });
    return null;
  } catch (error) {
    assert.ok(error instanceof StartError);
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
}

test('every setting is known', () => {
  for (const name of SETTING_NAMES) assert.equal(refusalOf(name), null);
});

test('a setting with up to two typing errors ends the start, and the right one is named', () => {
  const meant = {
    PROT: 'PORT',
    HSOT: 'HOST',
    DATABSE_URL: 'DATABASE_URL',
    DATABASE_URI: 'DATABASE_URL',
    REDIS_ULR: 'REDIS_URL',
    RATELIMITS: 'RATE_LIMIT',
    TRUSTED_PROXY: null,
    TRUSTED_PROXYS: 'TRUSTED_PROXIES',
    STMP_URL: 'SMTP_URL',
    NODEENV: 'NODE_ENV',
    TAPLINE_SECERT: 'TAPLINE_SECRET',
    CHAIN_TESTNET_RPC_URLS: 'CHAIN_TESTNET_RPC_URL',
  };
  for (const [name, setting] of Object.entries(meant)) {
    const expected =
      setting === null ? null : `${name} is not a setting of Tapline: is ${setting} meant?`;
    assert.equal(refusalOf(name), expected);
  }
});

test('the former name of a setting ends the start, which names the new one', () => {
  const renamed = {
    SETTLE_WITHIN: 'SETTLEMENT_TIMEOUT_SECONDS',
    CEILING_SHARE: 'MAX_ACCOUNT_SHARE_PERCENT',
    STATIC_PASS: 'STATIC_PASS_CONFIRM_FROM',
    CHAIN_TESTNET_COUNTS_FROM: 'CHAIN_TESTNET_CONFIRMATION_TIERS',
    CHAIN_MAINNET_HEADS_URL: 'CHAIN_MAINNET_WS_URL',
    CHAIN_MAINNET_FORMER_SETTLEMENTS: 'CHAIN_MAINNET_PREVIOUS_CONTRACTS',
    CHAIN_TESTNET_WATCH_KEY: 'CHAIN_TESTNET_WATCHER_KEY',
    CHAIN_TESTNET_WATCH_PAUSE_FROM: 'CHAIN_TESTNET_WATCHER_PAUSE_FROM',
  };
  for (const [name, setting] of Object.entries(renamed)) {
    assert.equal(
      refusalOf(name),
      `${name} is not a setting of Tapline: it is now called ${setting}`,
    );
  }
});

test("an unknown name with Tapline's prefix ends the start", () => {
  for (const name of ['TAPLINE_COLOUR', 'CHAIN_SEPOLIA_RPC_URL', 'WEBHOOK_TIMEOUT']) {
    assert.match(refusalOf(name) ?? '', /docs\/settings\.md lists them/);
  }
});

test('client settings do not stop a start in the same shell', () => {
  for (const name of ['TAPLINE_API_KEY', 'TAPLINE_BASE_URL']) assert.equal(refusalOf(name), null);
});

test('variables that Kubernetes sets for Services named like settings are ignored', () => {
  const injected = ['TAPLINE', 'TAPLINE_API', 'CHAIN_TESTNET', 'WEBHOOK_RECEIVER'].flatMap(
    (service): [string, string][] => [
      [`${service}_SERVICE_HOST`, '10.96.0.12'],
      [`${service}_SERVICE_PORT`, '4242'],
      [`${service}_SERVICE_PORT_HTTP`, '4242'],
      [`${service}_PORT`, 'tcp://10.96.0.12:4242'],
      [`${service}_PORT_4242_TCP`, 'tcp://10.96.0.12:4242'],
      [`${service}_PORT_4242_TCP_PROTO`, 'tcp'],
      [`${service}_PORT_4242_TCP_PORT`, '4242'],
      [`${service}_PORT_4242_TCP_ADDR`, '10.96.0.12'],
    ],
  );
  for (const [name, value] of injected) assert.equal(refusalOf(name, value), null, name);
  assert.match(refusalOf('TAPLINE_PORT', '4242') ?? '', /not a setting/);
});

/** Environment variables that the machine of a start may have for other reasons. */
const ORDINARY = {
  'a login shell': `COLORTERM DBUS_SESSION_BUS_ADDRESS DISPLAY EDITOR HISTSIZE HOME HOSTNAME
    HOSTTYPE LANG LANGUAGE LC_ALL LESS LOGNAME LS_COLORS MAIL MANPATH OLDPWD OSTYPE PAGER PATH PS1
    PWD SHELL SHLVL SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY SUDO_USER TERM TMPDIR TZ USER
    VISUAL XDG_RUNTIME_DIR XDG_SESSION_ID _`,
  'systemd units': `CREDENTIALS_DIRECTORY INVOCATION_ID JOURNAL_STREAM LISTEN_FDS LISTEN_PID
    LOGS_DIRECTORY MAINPID MEMORY_PRESSURE_WATCH NOTIFY_SOCKET RUNTIME_DIRECTORY STATE_DIRECTORY
    SYSTEMD_EXEC_PID WATCHDOG_PID WATCHDOG_USEC`,
  'Docker and Kubernetes': `HOSTNAME HOME KUBERNETES_PORT KUBERNETES_SERVICE_HOST
    KUBERNETES_SERVICE_PORT NODE_VERSION YARN_VERSION POD_NAME POD_IP NODE_NAME CONTAINER
    DOCKER_HOST COMPOSE_PROJECT_NAME APP_PORT API_PORT WS_PORT DB_HOST DB_PORT WEB_PORT HTTP_PORT
    MYSQL_PORT REDIS_HOST REDIS_PORT POSTGRES_DB POSTGRES_USER POSTGRES_PASSWORD PGHOST PGPORT
    PGUSER PGPASSWORD PGDATABASE DYNO SOURCE_VERSION`,
  'GitHub Actions': `ACTIONS_CACHE_URL ACTIONS_RUNTIME_URL AGENT_TOOLSDIRECTORY ANDROID_HOME CI
    CHROME_BIN DEBIAN_FRONTEND GITHUB_ACTION GITHUB_ACTIONS GITHUB_ENV GITHUB_PATH GITHUB_REF
    GITHUB_SHA GITHUB_TOKEN GITHUB_WORKSPACE GOROOT_1_24_X64 ImageOS JAVA_HOME NVM_DIR
    PIPX_BIN_DIR RUNNER_ARCH RUNNER_OS RUNNER_TEMP SELENIUM_JAR_PATH SGX_AESM_ADDR VCPKG_ROOT`,
  'Node and npm': `NODE NODE_PATH NODE_OPTIONS NODE_EXTRA_CA_CERTS
    NODE_NO_WARNINGS NODE_TEST_CONTEXT INIT_CWD
    npm_command npm_config_cache npm_execpath npm_lifecycle_event npm_package_json
    FORCE_COLOR NO_COLOR NVM_BIN`,
  proxies: 'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy ALL_PROXY FTP_PROXY',
  'near by chance': 'HOSTS PORTS POST',
};

test('no variable of ordinary machines ends the start', () => {
  for (const [where, names] of Object.entries(ORDINARY)) {
    for (const name of names.split(/\s+/)) assert.equal(refusalOf(name), null, `${where}: ${name}`);
  }
  for (const name of Object.keys(process.env)) {
    if (!name.startsWith('TAPLINE_')) assert.equal(refusalOf(name), null, name);
  }
});

test('a start with all of these variables still reads its settings', () => {
  const names = Object.values(ORDINARY).flatMap((text) => text.split(/\s+/));
  const ordinary = Object.fromEntries(names.map((name) => [name, 'tcp://10.0.0.1:1']));
  assert.equal(readConfig({ ...ordinary, PORT: '4300' }, []).port, 4300);
});

test('a ceiling share that is not a percentage ends the start with one line', () => {
  const shareOf = (text: string) =>
    readConfig({ MAX_ACCOUNT_SHARE_PERCENT: text }, []).ceilingShare;
  for (const share of [1, 25, 100]) assert.equal(shareOf(String(share)), share);
  assert.equal(readConfig({}, []).ceilingShare, null);
  for (const text of ['0', '101', '-5', '12.5', '25%', 'half', '1e2']) {
    assert.throws(
      () => shareOf(text),
      (error) =>
        error instanceof StartError &&
        error.message === `MAX_ACCOUNT_SHARE_PERCENT=${text} must be an integer from 1 to 100`,
      text,
    );
  }
});
