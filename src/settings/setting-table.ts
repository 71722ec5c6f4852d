/**
 * A setting, declared once. The accepted names, `.env.example` and docs/settings.md (`npm run
 * settings-reference`) come from these rows and those of `chain-setting-table.ts`.
 */
export interface SettingRow {
  readonly name: string;
  /** The default as an operator would write it; empty if it is not fixed. */
  readonly default: string;
  /** The effect of omitting the setting. Present only if no value has the same effect. */
  readonly without?: string;
  readonly unit?: string;
  /** One or two sentences; the first is the comment in `.env.example`. */
  readonly what: string;
  /** The release that introduced the setting; default: 1.0.0. */
  readonly since?: string;
}

export interface SettingSection {
  readonly title: string;
  readonly rows: readonly SettingRow[];
}

export const GENERAL_SECTIONS = [
  {
    title: 'Server',
    rows: [
      { name: 'PORT', default: '4242', unit: 'port', what: 'The port that serves HTTP.' },
      {
        name: 'HOST',
        default: '127.0.0.1',
        unit: 'address',
        what: 'The address of this machine that the service listens on.',
      },
      {
        name: 'OPS_PORT',
        default: '',
        without: '`PORT` serves them',
        unit: 'port',
        what:
          'A separate port for /livez, /readyz and /metrics. /metrics is then on no other port; ' +
          'a process without the role `api` listens only here.',
      },
      {
        name: 'DRAIN_SECONDS',
        default: '0',
        unit: 'seconds, 0–300',
        what:
          'How long a process keeps serving after SIGTERM, while /readyz answers 503 and load ' +
          'balancers stop sending requests.',
      },
      {
        name: 'METRICS_TOKEN',
        default: '',
        without: 'production serves no /metrics on `PORT`',
        unit: '16 or more characters',
        what: 'The bearer token that /metrics on PORT requires.',
      },
      {
        name: 'TAPLINE_DATA_DIR',
        default: '.tapline',
        unit: 'folder',
        what:
          'The folder of the embedded database, the embedded chains and the sandbox’s secrets. A ' +
          'folder that other users may write to, or that contains a link, is refused.',
      },
      {
        name: 'TAPLINE_SECRET',
        default: '',
        without: 'generated at the first start and kept in the data folder',
        unit: '32 bytes, hex or base64',
        what: 'The secret that encrypts stored secrets and signs cursors. Production requires it.',
      },
      {
        name: 'TAPLINE_SECRET_PREVIOUS',
        default: '',
        unit: '32 bytes, hex or base64',
        what:
          'The previous secret, which also decrypts during a rotation of TAPLINE_SECRET. See ' +
          '[Secrets](operate.md).',
      },
      {
        name: 'TAPLINE_PUBLIC_URL',
        default: '',
        without: 'this machine and port',
        unit: 'URL',
        what: 'The address where people reach the web apps, for links in emails.',
      },
      {
        name: 'NODE_ENV',
        default: '',
        what:
          'With the value `production`, the start refuses everything embedded, demo data and ' +
          'missing secrets.',
      },
    ],
  },
  {
    title: 'Database and rate limits',
    rows: [
      {
        name: 'DATABASE_URL',
        default: '',
        without: 'the embedded PostgreSQL',
        unit: 'URL',
        what: 'A PostgreSQL database, version 15 or newer.',
      },
      {
        name: 'DATABASE_READ_URL',
        default: '',
        without: '`DATABASE_URL`',
        unit: 'URL',
        what:
          'A standby for the dashboard’s lists, exports and statistics; no decision reads from ' +
          'it.',
      },
      {
        name: 'DATABASE_DIRECT_URL',
        default: '',
        without: '`DATABASE_URL`',
        unit: 'URL',
        what: 'The same database without the transaction-mode pooler, for wake-ups and migrations.',
      },
      {
        name: 'DATABASE_CONNECTIONS',
        default: '20',
        unit: 'connections, 4–500',
        what: 'The most connections that this process opens.',
      },
      {
        name: 'DATABASE_DURABILITY',
        default: '',
        without: 'production requires a synchronous standby',
        unit: '`managed`, `single` or `asynchronous`',
        what:
          'The accepted loss if the primary dies: managed (the provider keeps copies), single or ' +
          'asynchronous.',
      },
      {
        name: 'REDIS_URL',
        default: '',
        without: 'each process counts its own requests',
        unit: 'URL',
        what: 'A Redis server for rate limits that several processes share.',
      },
      {
        name: 'CELL',
        default: '0',
        unit: 'number, 0–9',
        what:
          'The number of this cell. A cell is one of several independent deployments that share ' +
          'a public API; see [Scale](scale.md).',
      },
      {
        name: 'CELL_ADDRESSES',
        default: '',
        without: 'this cell is alone',
        unit: '`<number>=<URL>` list',
        what:
          'The addresses of the other cells, such as ' +
          '1=https://one.example,2=https://two.example.',
      },
      {
        name: 'CELL_SECRET',
        default: '',
        unit: '32 or more characters',
        what:
          'The shared secret with which cells authenticate to each other; the same in all of ' +
          'them.',
      },
      {
        name: 'RATE_LIMIT',
        default: '100/1',
        unit: 'requests/seconds',
        what: 'The rate limit of one API key.',
      },
    ],
  },
  {
    title: 'Payments',
    rows: [
      {
        name: 'SETTLEMENT_TIMEOUT_SECONDS',
        default: '60',
        unit: 'seconds, 30–600',
        what:
          'The time from a tap, or from the payer’s confirmation, within which a payment settles ' +
          'or ends.',
      },
      {
        name: 'STATIC_PASS_CONFIRM_FROM',
        default: '',
        without: '20000000 (20 USDC); in the sandbox `off`',
        unit: 'atoms, or `off`',
        what:
          'The amount from which a payment with a static pass (nfc_id), which can be copied, ' +
          'needs its payer’s confirmation. Unless it is `off`, the first payment at a merchant ' +
          'needs one too, except in the sandbox.',
      },
      {
        name: 'GASLESS_TRANSFERS',
        default: '',
        without: 'none; in the sandbox its own chains',
        unit: '`testnet`, `mainnet`, both, or `none`',
        what:
          'The networks, separated by a comma, where the operator pays the gas of wallets’ ' +
          'transfers. Workers of these networks need `CHAIN_<NETWORK>_SPONSOR_KEY`.',
      },
      {
        name: 'GASLESS_TRANSFERS_PER_ADDRESS',
        default: '30',
        unit: 'transfers an hour, 1–100000',
        what: 'How many of these transfers one IP address can make in an hour.',
      },
      {
        name: 'GASLESS_TRANSFERS_PER_HOUR',
        default: '600',
        unit: 'transfers an hour, 1–100000',
        what:
          'How many of these transfers a network makes in an hour in all. When they are used ' +
          'up, the alarm `gasless_limit` is raised.',
      },
      {
        name: 'WALLET_DEPLOYMENT_GAS_PER_DAY',
        default: '100000000',
        unit: 'gas in 24 hours, 1000000–100000000000',
        what:
          'The most gas for the deployment of wallets ' +
          '(`CHAIN_<NETWORK>_WALLET_FACTORIES`), for each network. Where the coin is a dollar, ' +
          'a deployment that costs less than the fees of its sale does not count.',
      },
      {
        name: 'WALLET_DEPLOYMENT_FROM',
        default: '',
        without: '1000000; in the sandbox 0',
        unit: 'atoms',
        what: 'The smallest sale for which a wallet is deployed.',
      },
      {
        name: 'WALLET_PAYMENT_GAS_PER_DAY',
        default: '400000000',
        unit: 'gas in 24 hours, 1000000–100000000000',
        what:
          'The most gas for payments of contract wallets by pay link, tag or chip that fail in a ' +
          'block, for each network.',
      },
      {
        name: 'APPROVAL_GAS_PER_DAY',
        default: '400000000',
        unit: 'gas in 24 hours, 1000000–100000000000',
        what: 'The most gas for permits and spending policies of payers, for each network.',
      },
      {
        name: 'APPROVALS_PER_ADDRESS',
        default: '30',
        unit: 'approvals an hour, 1–100000',
        what:
          'How many approvals one IP address can send in an hour. All customers in the Wi-Fi of ' +
          'a shop share one address.',
      },
      {
        name: 'GASLESS_TRANSFER_GAS_PER_DAY',
        default: '1000000000',
        unit: 'gas in 24 hours, 1000000–100000000000',
        what: 'The most gas for wallets’ transfers that the operator pays, for each network.',
      },
      {
        name: 'WALLET_READS_PER_DAY',
        default: '2000',
        unit: 'requests a day, 216–1000000',
        what:
          'The most requests to nodes with which one wallet’s history is read, for each UTC day. ' +
          'Beyond it, the history shows what was read before.',
      },
      {
        name: 'WALLET_TOP_UP_URL',
        default: '',
        without: 'none is shown',
        unit: 'https URL',
        what:
          'A page where payers of live mode can get USDC. The wallet shows its host and opens it ' +
          'in a new tab, with nothing added.',
      },
      {
        name: 'MAX_ACCOUNT_SHARE_PERCENT',
        default: '',
        without: '100 while fewer than five accounts sell, then 25; in the sandbox 100',
        unit: 'percent, 1–100',
        what: 'The share of the contract’s hourly ceiling that one account may use.',
      },
    ],
  },
  {
    title: 'Prices in other currencies',
    rows: [
      {
        name: 'RATES_URL',
        default: '',
        without: 'none: prices in other currencies are refused; in the sandbox, made-up rates',
        unit: 'two URLs, separated by a comma',
        what:
          'Two independent feeds of exchange rates. A rate is used only while both return a ' +
          'recent one and they agree. See [Rates](configure.md#rates).',
      },
      {
        name: 'RATES_MAX_AGE',
        default: '120',
        unit: 'seconds, 1–86400',
        what:
          'The age at which a rate expires. The feeds are queried at least three times within ' +
          'it.',
      },
      {
        name: 'RATES_MAX_SPREAD',
        default: '1',
        unit: 'percent, 0–99.99',
        what: 'The most by which the rates of the two feeds may differ.',
      },
      {
        name: 'RATES_CLOSED_MARGIN',
        default: '0',
        unit: 'percent, 0–10',
        what:
          'By how much a rate is raised, in the shop’s favor, while the older `market_at` of the ' +
          'feeds is more than an hour back. See [Rates](configure.md#rates).',
      },
    ],
  },
  {
    title: 'Network access',
    rows: [
      {
        name: 'WEBHOOK_ALLOW_CIDRS',
        default: '',
        without: 'no private address',
        unit: 'CIDR list',
        what: 'Private addresses that webhooks may go to.',
      },
      {
        name: 'OPERATOR_URL',
        default: '',
        without: 'the address of all other pages',
        unit: 'URL',
        what: 'The only address that serves /operator and its API.',
      },
      {
        name: 'OPERATOR_ALLOW_CIDRS',
        default: '',
        without: 'all addresses',
        unit: 'CIDR list',
        what: 'The client addresses that may reach /operator and its API.',
      },
      {
        name: 'TRUSTED_PROXIES',
        default: '',
        without: 'no proxy',
        unit: 'CIDR list',
        what: 'Proxies whose X-Forwarded-For the service trusts.',
      },
    ],
  },
  {
    title: 'Mail, audit log and requests',
    rows: [
      {
        name: 'SMTP_URL',
        default: '',
        without: 'files in the data folder',
        unit: 'URL',
        what: 'The mail server.',
      },
      {
        name: 'MAIL_FROM',
        default: 'Tapline <no-reply@localhost>',
        what: 'The sender of all emails.',
      },
      {
        name: 'AUDIT_ANCHORS',
        default: '',
        without: 'mail to all operators; without `SMTP_URL`, a file in the data folder',
        unit: '`mail:<address>`, `https://…` or `file:/<path>`',
        what: 'The destination of the audit log’s daily anchor.',
      },
      {
        name: 'LOG_REQUESTS',
        default: 'none',
        unit: '`none`, `failed` or `all`',
        what:
          'The requests that get a log line; failed means answered with 500 or more. SIGUSR2 ' +
          'switches all of them on and off in a running process.',
      },
    ],
  },
  {
    title: 'Sandbox',
    rows: [
      {
        name: 'SANDBOX_BLOCK_MS',
        default: '1000',
        unit: 'milliseconds, 100–60000',
        what:
          'The block time of the embedded chains; two numbers (200,500) set testnet and mainnet ' +
          'separately. Below one second, blocks come that fast only while a transaction is ' +
          'pending, and once a second otherwise.',
      },
      {
        name: 'SANDBOX_START_SECONDS',
        default: '120',
        unit: 'seconds, 5–3600',
        what:
          'How long a start waits for the embedded database, for each embedded chain, and for ' +
          'builds of the web apps and packages, before it ends with an error. Raise it on a slow ' +
          'or emulated machine.',
      },
    ],
  },
  {
    title: 'Apple Wallet and Google Wallet',
    rows: [
      {
        name: 'APPLE_PASS_TYPE',
        default: '',
        without: 'no pass files for iPhones',
        what: 'Apple’s identifier of the pass type. See [Passes](configure.md#passes-for-phones).',
      },
      {
        name: 'APPLE_TEAM',
        default: '',
        what: 'Apple’s identifier of the team that owns the pass type.',
      },
      {
        name: 'APPLE_PASS_CERTIFICATE',
        default: '',
        unit: 'PEM file',
        what: 'The certificate of the pass type.',
      },
      {
        name: 'APPLE_PASS_KEY',
        default: '',
        unit: 'PEM file',
        what: 'The private key of that certificate, without a passphrase.',
      },
      {
        name: 'APPLE_WWDR_CERTIFICATE',
        default: '',
        unit: 'PEM file',
        what: 'Apple’s intermediate certificate (WWDR), which signed it.',
      },
      {
        name: 'APPLE_NFC_PUBLIC_KEY',
        default: '',
        without: 'passes without NFC',
        unit: 'base64',
        what: 'The public key of Apple’s NFC certificate.',
      },
      {
        name: 'GOOGLE_WALLET_ISSUER',
        default: '',
        without: 'no save links for Android phones',
        what: 'The issuer’s number at Google Wallet.',
      },
      {
        name: 'GOOGLE_WALLET_CREDENTIALS',
        default: '',
        unit: 'JSON file',
        what: 'A service account that may issue passes of this issuer.',
      },
    ],
  },
  {
    title: 'Push messages and WalletConnect',
    rows: [
      {
        name: 'VAPID_PRIVATE_KEY',
        default: '',
        without: 'no push messages to closed wallets',
        unit: '32 bytes, base64url',
        what: 'The P-256 key that authenticates this service to push services.',
      },
      {
        name: 'VAPID_SUBJECT',
        default: '',
        unit: '`mailto:<address>` or `https://…`',
        what: 'The contact for push services, at a public domain.',
      },
      {
        name: 'WALLETCONNECT_PROJECT_ID',
        default: '',
        without: 'the pay page offers no wallet on another device',
        unit: '32 hex digits',
        what:
          'The project id at WalletConnect. Run npm run walletconnect once to install its ' +
          'library.',
      },
      {
        name: 'WALLETCONNECT_RELAY_URL',
        default: '',
        without: '`wss://relay.walletconnect.org`',
        unit: 'URL',
        what: 'The relay that connects the pay page and the wallet.',
      },
    ],
  },
  {
    title: 'Tracing',
    rows: [
      {
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        default: '',
        without: 'no tracing',
        unit: 'URL',
        what: 'The base address of an OTLP/HTTP receiver for the spans of each sale, as JSON.',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_HEADERS',
        default: '',
        unit: '`name=value` list',
        what: 'The headers that the receiver requires; values are percent-encoded.',
      },
      {
        name: 'OTEL_TRACES_SAMPLER_ARG',
        default: '1',
        unit: 'share, 0–1',
        what: 'The share of sales to trace, apart from those that a caller already traces.',
      },
    ],
  },
] as const satisfies readonly SettingSection[];
