// Hand-written bugs in the hourly limit on what operators may pay out.

import type { Mutation } from '../../test/mutations/mutation.ts';

export const OUTFLOW_MUTATIONS: readonly Mutation[] = [
  {
    name: 'the outflow of an hour is not added up',
    file: 'PackedOutflow.sol',
    from: '(sum << PAID_SHIFT)',
    to: '(amount << PAID_SHIFT)',
  },
  {
    name: 'one atom above the ceiling can be refunded',
    file: 'PackedOutflow.sol',
    from: 'if (sum > ceiling) {',
    to: 'if (sum > ceiling + 1) {',
  },
  {
    name: 'the outflow of an hour years ago counts again',
    file: 'PackedOutflow.sol',
    from: 'uint40(word >> HOUR_SHIFT) == hour',
    to: 'uint16(word >> HOUR_SHIFT) == uint16(hour)',
  },
  {
    name: 'the hour of the outflow is not recorded',
    file: 'PackedOutflow.sol',
    from: '(hour << HOUR_SHIFT) | (sum',
    to: '(uint256(1) << HOUR_SHIFT) | (sum',
  },
  {
    name: 'paying out lifts the pause of refunds',
    file: 'PackedOutflow.sol',
    from: 'PAUSE_AND_CEILING = 0x1ffffff;',
    to: 'PAUSE_AND_CEILING = 0x1fffffe;',
  },
  {
    name: 'a ceiling lowered below the outflow so far underflows',
    file: 'PackedOutflow.sol',
    from: 'paid < ceiling ? ceiling - paid : 0',
    to: 'ceiling - paid',
  },
  {
    name: 'pausing refunds resets the outflow',
    file: 'PackedOutflow.sol',
    from: 'PackedOutflow.unwrap(outflow) & ~uint256(1);',
    to: 'PackedOutflow.unwrap(outflow) & PAUSE_AND_CEILING;',
  },
  {
    name: "the wallet's own withdrawals count",
    file: 'Payouts.sol',
    from: '_takeOut(merchant, msg.sender, amount);',
    to:
      '_takeOut(merchant, msg.sender, amount);\n' +
      '        _outflow = _outflow.pay(amount, block.timestamp);',
  },
  {
    name: 'a proposal does not mark its merchant',
    file: 'WalletChanges.sol',
    from: '_merchants[merchant].changeAnnounced = true;',
    to: '',
  },
  {
    name: 'the flag of a proposal is read inverted',
    file: 'Payouts.sol',
    from: '& CHANGE_ANNOUNCED != 0',
    to: '& CHANGE_ANNOUNCED == 0',
  },
  {
    name: 'the flag is in another bit',
    file: 'Payouts.sol',
    from: 'CHANGE_ANNOUNCED = 1 << 192;',
    to: 'CHANGE_ANNOUNCED = 1 << 193;',
  },
  {
    name: 'refunds do not count',
    file: 'Refunds.sol',
    from: '_outflow = outflow.pay(amount, block.timestamp);',
    to: '',
  },
  {
    name: 'the ceiling does not limit the outflow',
    file: 'Governance.sol',
    from: '_outflow = _outflow.withCeiling(ceiling_);',
    to: '',
  },
];
