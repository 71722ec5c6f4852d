/**
 * How nodes report a call that a contract refused, from their source code and documentation:
 * go-ethereum and Erigon, reth, anvil, Nitro, Besu, Nethermind in two releases, OpenEthereum, and
 * gateways that wrap the node's error.
 */
export const REVERTS = [
  { code: 3, message: 'execution reverted: no', data: '0x' },
  { code: -32_000, message: 'execution reverted' },
  { code: 3, message: 'execution reverted', data: '0x08c379a0' },
  { code: -32_000, message: 'Execution reverted', data: '0x' },
  { code: -32_000, message: 'Execution reverted: no' },
  { code: -32_015, message: 'VM execution error.', data: 'Reverted 0x08c379a0' },
  { code: -32_015, message: 'VM execution error.', data: 'revert' },
  { code: 3, message: 'revert', data: '0x08c379a0' },
  { code: -32_603, message: 'Internal error', data: { code: 3, message: 'execution reverted' } },
  {
    code: -32_603,
    message: 'Internal JSON-RPC error.',
    data: { originalError: { code: 3, data: '0x', message: 'execution reverted' } },
  },
  {
    code: -32_000,
    message: 'upstream error',
    data: { error: { code: -32_015, message: 'VM execution error.', data: 'Reverted 0x' } },
  },
] as const;
