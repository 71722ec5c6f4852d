import type { SettingSection } from '#settings/setting-table.ts';

/**
 * One network's settings, without the prefix `CHAIN_TESTNET_` or `CHAIN_MAINNET_`. Any setting of
 * the first two sections makes the network's chain external.
 */
export const CHAIN_SECTIONS = [
  {
    title: 'An external chain',
    rows: [
      {
        name: 'RPC_URL',
        default: '',
        without: 'the embedded chain',
        unit: 'URL list',
        what: 'The addresses of the network’s nodes, the preferred one first.',
      },
      {
        name: 'RPC_HEADERS',
        default: '',
        unit: 'JSON list',
        what: 'The headers of each node, in the order of the addresses.',
      },
      {
        name: 'RPC_TIMEOUT_MS',
        default: '3000',
        unit: 'milliseconds',
        what: 'The time-out of a node: one number for all addresses, or one for each.',
      },
      {
        name: 'RPC_PER_SECOND',
        default: '',
        without: 'no limit',
        unit: 'requests per second, 5–100000',
        what: 'The most requests that this process sends to all nodes together.',
      },
      {
        name: 'WS_URL',
        default: '',
        without: 'new blocks are polled for',
        unit: 'URL, or `auto`',
        what: 'A ws or wss address that announces new blocks; auto derives it from the first node.',
      },
      {
        name: 'PUBLIC_RPC_URL',
        default: '',
        without: 'receipts do not check themselves',
        unit: 'URL',
        what: 'A node that browsers may ask, for receipts and the wallet.',
      },
      {
        name: 'EXPLORER_URL',
        default: '',
        without: 'by profile',
        unit: 'URL',
        what: 'A site that shows transactions below /tx/; receipts link to it.',
      },
      { name: 'CHAIN_ID', default: '', unit: 'number', what: 'The id of the chain.' },
      {
        name: 'USDC',
        default: '',
        without: 'by profile',
        unit: 'address',
        what: 'The USDC contract. With Circle’s USDC, the sandbox starts without demo money.',
      },
      {
        name: 'USDC_NAME',
        default: '',
        without: 'read from the token',
        what: 'The name in the token’s EIP-712 domain.',
      },
      {
        name: 'USDC_VERSION',
        default: '',
        without: 'read from the token',
        what: 'The version in the token’s EIP-712 domain.',
      },
      {
        name: 'SETTLEMENT',
        default: '',
        unit: 'address',
        what: 'The settlement contract.',
      },
      {
        name: 'DEPLOYED_AT_BLOCK',
        default: '0',
        unit: 'block',
        what: 'The block in which the settlement contract was deployed.',
      },
      {
        name: 'PREVIOUS_CONTRACTS',
        default: '',
        unit: '`<address>@<block>` list',
        what:
          'Earlier settlement contracts where merchants still have money, the oldest first, each ' +
          'with the block of its deployment.',
      },
    ],
  },
  {
    title: 'Keys',
    rows: [
      {
        name: 'RELAYER_KEYS',
        default: '',
        unit: 'key list',
        what:
          'The private keys that send transactions; only for processes with the role `worker`. ' +
          'Each key, here and below, is 0x and 64 hex digits, `file:/<path>`, or ' +
          '`https://<signer>/<address>`.',
      },
      {
        name: 'REGISTRAR_KEY',
        default: '',
        unit: 'key',
        what:
          'The private key that registers merchants; only for processes with the role ' +
          '`registrar`.',
      },
      {
        name: 'SPONSOR_KEY',
        default: '',
        unit: 'key',
        what:
          'The private key that pays the gas of GASLESS_TRANSFERS; only for processes with the ' +
          'role `worker`.',
      },
      {
        name: 'WATCHER_KEY',
        default: '',
        without: 'the watchtower only raises alarms',
        unit: 'key',
        what:
          'The private key with which a watchtower pauses the contract; only for the process ' +
          'with the role `watch`.',
      },
      {
        name: 'SIGNER_TOKEN',
        default: '',
        what: 'The token that authenticates to the remote signer of https:// keys.',
      },
      {
        name: 'WATCHER_PAUSE_FROM',
        default: '100000000',
        unit: 'atoms',
        what:
          'The sum, settled or refunded within a day outside this service, from which a ' +
          'watchtower pauses the contract.',
      },
    ],
  },
  {
    title: 'Rules of a chain, external or embedded',
    rows: [
      {
        name: 'PROFILE',
        default: '',
        without: 'by chain id',
        unit: '`base`, `base-sepolia`, `arc`, `ethereum` or `custom`',
        what: 'The known properties of the chain.',
      },
      {
        name: 'CONFIRMATIONS',
        default: '',
        without: '0 with nodes on two or more hosts or where blocks are final at once, else 1',
        unit: 'blocks, or a time (`400ms`, `2s`)',
        what: 'How deep the block of a payment must be before the payment counts.',
      },
      {
        name: 'CONFIRMATION_TIERS',
        default: '',
        without: 'inclusion for all amounts',
        unit: '`<atoms>:<depth>` list',
        what: 'Depths for larger amounts, such as 0:inclusion,500000000:1s,10000000000:safe.',
      },
      {
        name: 'SETTLE_EVERY_MS',
        default: '0',
        unit: 'milliseconds, 0–10000',
        what: 'The minimum time between a worker’s batches; more makes payments cheaper but later.',
      },
      {
        name: 'MAX_FEE_GWEI',
        default: '',
        without: 'by profile',
        unit: 'gwei',
        what: 'The highest price offered for a unit of gas.',
      },
      {
        name: 'WALLET_FACTORIES',
        default: '',
        without: 'by profile',
        unit: 'address list, or `none`',
        what:
          'The contracts that deploy the wallets of payers and merchants who signed before their ' +
          'wallet was deployed (ERC-6492). The operator pays the gas, with a key that is not ' +
          'behind a signer.',
      },
      {
        name: 'LOW_BALANCE',
        default: '5000',
        unit: 'payments',
        what: 'Operators are warned when an address has gas money for fewer payments than this.',
      },
    ],
  },
] as const satisfies readonly SettingSection[];
