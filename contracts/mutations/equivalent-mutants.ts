// Mutations of the contracts that no test can detect, with the reason for each.

import type { Proof } from '../../test/mutations/equivalent.ts';

export const PROOFS: readonly Proof[] = [
  {
    file: 'PackedOutflow.sol',
    from: 'PAUSE_AND_CEILING = 0x1ffffff;',
    behind: 'uint256 private constant ',
    proof:
      'The contract adds to the outflow only in refund(), after it has reverted if refunds are ' +
      'paused. So the bit that is lost is always 0.',
  },
  {
    file: 'SpendingPolicies.sol',
    from: '<',
    behind: 'policy.maxFeeRate ',
    proof: 'The lesser of two equal numbers is the same whichever is named.',
  },
  {
    file: 'PaymentTree.sol',
    from: 'at, 0x20',
    behind: 'lt(at, end) { at := add(',
    proof: 'A sum is the same whichever of the two is named first.',
  },
  {
    file: 'PackedPolicy.sol',
    from: 'if (policy.periodSeconds() == 0) return 0;',
    behind: 'uint256 word = PackedPolicy.unwrap(policy);\n        ',
    proof:
      'In the EVM a division by zero gives zero, and that is the period of a word without one. ' +
      'Such a word (no policy, or a revoked one) has spent nothing: zero either way.',
  },
  {
    file: 'SpendingPolicies.sol',
    from: 'if (wallet.code.length == 0) return false;',
    behind: 'returns (bool)\n    {\n        ',
    proof:
      'An address without code answers nothing, and fewer than 32 bytes confirm nothing. Of the ' +
      'precompiles only identity begins its answer with the selector, and the digest follows it.',
  },
  {
    file: 'Payouts.sol',
    from: '1',
    behind: '_withdrawn[number] = ',
    proof: 'A number is used when its slot is not zero; no code reads the rest of it.',
  },
];
