// Hand-made bugs in who may do what, and in what waits: the timelock, roles, wallets, holds.

import type { Mutation } from '../../test/mutations/mutation.ts';

export const GOVERNANCE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a raise lowers the ceiling',
    file: 'Governance.sol',
    from: 'if (ceiling_ <= approved) revert CeilingNotHigher(ceiling_, approved);',
    to: '',
  },
  {
    name: 'a raise undoes what a guardian has lowered',
    file: 'Governance.sol',
    from: 'if (_ledger.hourlyCeiling() == approved) _setCeiling(ceiling_);',
    to: '_setCeiling(ceiling_);',
  },
  {
    name: 'a raised ceiling cannot be restored',
    file: 'Governance.sol',
    from: '_approvedCeiling = ceiling_;\n        emit',
    to: 'emit',
  },
  {
    name: 'anybody raises the ceiling',
    file: 'Governance.sol',
    from: 'raiseCeiling(uint24 ceiling_) external onlyRole(DEFAULT_ADMIN_ROLE)',
    to: 'raiseCeiling(uint24 ceiling_) external',
  },
  {
    name: 'anybody changes the rates',
    file: 'Governance.sol',
    from: 'setRates(Rates calldata rates_) external onlyRole(DEFAULT_ADMIN_ROLE)',
    to: 'setRates(Rates calldata rates_) external',
  },
  {
    name: 'the guardian lifts a pause',
    file: 'Governance.sol',
    from: 'function unpauseSettling() external onlyRole(STEWARD_ROLE)',
    to: 'function unpauseSettling() external onlyRole(GUARDIAN_ROLE)',
  },
  {
    name: 'the guardian restores the ceiling',
    file: 'Governance.sol',
    from: 'restoreCeiling(uint24 ceiling_) external onlyRole(STEWARD_ROLE)',
    to: 'restoreCeiling(uint24 ceiling_) external onlyRole(GUARDIAN_ROLE)',
  },
  {
    name: 'an operator cancels operations',
    file: 'Governance.sol',
    from: 'cancelOperations(bytes32[] calldata ids) external onlyRole(GUARDIAN_ROLE)',
    to: 'cancelOperations(bytes32[] calldata ids) external onlyRole(OPERATOR_ROLE)',
  },
  {
    name: 'one operation that is gone keeps all others from being canceled',
    file: 'Governance.sol',
    from: 'if (admin.isOperationPending(ids[i])) admin.cancel(ids[i]);',
    to: 'admin.cancel(ids[i]);',
  },
  {
    name: 'a second admin is granted',
    file: 'Governance.sol',
    from: 'if (role == DEFAULT_ADMIN_ROLE) revert AdminStays();\n        super.grantRole',
    to: 'super.grantRole',
  },
  {
    name: 'the admin goes',
    file: 'Governance.sol',
    from: 'if (role == DEFAULT_ADMIN_ROLE) revert AdminStays();\n        revoked',
    to: 'revoked',
  },
  {
    name: 'a steward revokes stewards',
    file: 'Governance.sol',
    from: 'role == DEFAULT_ADMIN_ROLE || role == STEWARD_ROLE;',
    to: 'role == DEFAULT_ADMIN_ROLE;',
  },
  {
    name: 'anybody revokes roles',
    file: 'Governance.sol',
    from: 'if (byTimelock || !hasRole(STEWARD_ROLE, msg.sender)) {',
    to: 'if (byTimelock) {',
  },
  {
    name: 'the last guardian goes',
    file: 'Governance.sol',
    from: '--_guardians == 0) revert LastGuardianStays();',
    to: '--_guardians == 7) revert LastGuardianStays();',
  },
  {
    name: 'a contract without a guardian is deployed',
    file: 'Governance.sol',
    from: 'if (_guardians == 0) revert LastGuardianStays();',
    to: '',
  },
  {
    name: 'two equal guardians pass for two',
    file: 'Governance.sol',
    from: 'if (!_grantRole(role, account)) revert AddressInvalid(account);',
    to: '_grantRole(role, account);',
  },
  {
    name: 'nobody can schedule anything',
    file: 'Settlement.sol',
    from: 'if (setup.proposers.length == 0) revert AddressInvalid(address(0));',
    to: '',
  },
  {
    name: 'proposers cancel their own removal',
    file: 'Timelock.sol',
    from: '_grantRole(PROPOSER_ROLE, proposers[i]);',
    to: '{ _grantRole(PROPOSER_ROLE, proposers[i]); _grantRole(CANCELLER_ROLE, proposers[i]); }',
  },
  {
    name: 'guardians cancel nothing',
    file: 'Timelock.sol',
    from: '_grantRole(CANCELLER_ROLE, msg.sender);',
    to: '',
  },
  {
    name: 'operations never lapse',
    file: 'Timelock.sol',
    from: 'if (block.timestamp > getTimestamp(id) + OPERATION_LIFE) return OperationState.Unset;',
    to: '',
  },
  {
    name: 'an operation makes the delay shorter than at deployment',
    file: 'Timelock.sol',
    from: 'if (delay < LEAST_DELAY) delay = LEAST_DELAY;',
    to: '',
  },
  {
    name: 'an operation makes the delay endless',
    file: 'Timelock.sol',
    from: 'if (delay > MOST_DELAY) delay = MOST_DELAY;',
    to: '',
  },
  {
    name: 'a wallet changes at once',
    file: 'WalletChanges.sol',
    from: 'if (block.timestamp < change.applicableAt) {',
    to: 'if (false) {',
  },
  {
    name: 'a proposal of a wallet never lapses',
    file: 'WalletChanges.sol',
    from: 'if (block.timestamp > uint256(stored.applicableAt) + PROPOSAL_LIFE) return change;',
    to: '',
  },
  {
    name: 'a lapsed proposal keeps a new one out',
    file: 'WalletChanges.sol',
    from: 'address pending = _pendingChange(merchant).wallet;',
    to: 'address pending = _walletChanges[merchant].wallet;',
  },
  {
    name: 'the guardian drops no proposals',
    file: 'WalletChanges.sol',
    from: 'if (stored.dropsOfAll != _drops[address(0)]) return change;',
    to: '',
  },
  {
    name: 'the proposals of a registrar are not dropped',
    file: 'WalletChanges.sol',
    from: 'if (stored.dropsOfProposer != _drops[stored.proposer]) return change;',
    to: '',
  },
  {
    name: "a watcher drops a merchant's own proposal",
    file: 'WalletChanges.sol',
    from: '_checkRole(REGISTRAR_ROLE, registrar);',
    to: '',
  },
  {
    name: 'anybody drops the proposals of a registrar',
    file: 'WalletChanges.sol',
    from: '_requireGuardianOrWatcher();\n        _checkRole',
    to: '_checkRole',
  },
  {
    name: 'a hold has no end',
    file: 'Merchants.sol',
    from: 'if (until > allowed) revert HoldTooLong(until, allowed);',
    to: '',
  },
  {
    name: 'a hold ends thirty days from now',
    file: 'Merchants.sol',
    from: 'uint256 allowed = _registeredAt[merchant] + MAX_PAYOUT_HOLD;',
    to: 'uint256 allowed = block.timestamp + MAX_PAYOUT_HOLD;',
  },
  {
    name: 'a balance runs over its field',
    file: 'Batches.sol',
    from: 'if (account < batch.account) revert MerchantBalanceTooHigh(tail.merchant());',
    to: '',
  },
  {
    name: 'withdrawals count as refunds',
    file: 'Payouts.sol',
    from:
      '_payOut(merchant, wallet, amount, number);\n    }\n\n' +
      '    /// @notice Pays out to the registered wallet at its',
    to:
      '_outflow = _outflow.pay(amount, block.timestamp);\n' +
      '        _payOut(merchant, wallet, amount, number);\n    }\n\n' +
      '    /// @notice Pays out to the registered wallet at its',
  },
  {
    name: 'an authorized pull gets no gas for a signature',
    file: 'Settlement.sol',
    from: 'AUTHORIZED_PULL_GAS = PULL_GAS + SIGNATURE_GAS;',
    to: 'AUTHORIZED_PULL_GAS = PULL_GAS;',
  },
  {
    name: 'an authorized pull may cost twice as much',
    file: 'Settlement.sol',
    from: 'AUTHORIZED_PULL_GAS = PULL_GAS + SIGNATURE_GAS;',
    to: 'AUTHORIZED_PULL_GAS = 2 * (PULL_GAS + SIGNATURE_GAS);',
  },
  {
    name: 'a signature gets less gas',
    file: 'SpendingPolicies.sol',
    from: 'SIGNATURE_GAS = 500_000;',
    to: 'SIGNATURE_GAS = 400_000;',
  },
  {
    name: 'a signature gets more gas',
    file: 'SpendingPolicies.sol',
    from: 'SIGNATURE_GAS = 500_000;',
    to: 'SIGNATURE_GAS = 600_000;',
  },
  {
    name: 'a wallet that answers anything has signed',
    file: 'SpendingPolicies.sol',
    from: 'return answer == bytes32(IERC1271.isValidSignature.selector);',
    to: 'return answer != 0;',
  },
  {
    name: 'a short answer of a wallet is enough',
    file: 'SpendingPolicies.sol',
    from: 'if gt(returndatasize(), 0x1f) { answer := mload(0x00) }',
    to: 'answer := mload(0x00)',
  },
  {
    name: 'a contract is deployed for a token without code',
    file: 'Settlement.sol',
    from: 'if (address(token).code.length == 0) revert AddressInvalid(address(token));',
    to: '',
  },
  {
    name: 'the treasurer sweeps USDC at its second address',
    file: 'Settlement.sol',
    from: 'if (TOKEN.balanceOf(address(this)) != held) revert AddressInvalid(address(stray));',
    to: '',
  },
  {
    name: 'enrolment does not look at the allowance',
    file: 'SpendingPolicies.sol',
    from: 'if (allowance < needed) revert AllowanceTooLow(allowance, needed);',
    to: '',
  },
  {
    name: 'enrolment takes an allowance without the fees',
    file: 'SpendingPolicies.sol',
    from: 'return sale + sale * rate / BASIS_POINTS;',
    to: 'return sale;',
  },
  {
    name: 'the preflight overlooks the blocklist',
    file: 'SettlementLens.sol',
    from: 'return _isBlocked(payer) ? Reason.TRANSFER_REFUSED : Reason.NONE;',
    to: 'return Reason.NONE;',
  },
  {
    name: "the preflight overlooks the token's pause",
    file: 'SettlementLens.sol',
    from: '_affirms(abi.encodeCall(ICircleToken.paused, ()))\n            || ',
    to: '',
  },
  {
    name: 'the preflight overlooks that this contract is blocked',
    file: 'SettlementLens.sol',
    from: '\n            || _isBlocked(address(SETTLEMENT));',
    to: ';',
  },
  {
    name: 'what settled above a lowered ceiling is not told',
    file: 'SettlementLens.sol',
    from: 'settled = uint64(ledger.settledAt(block.timestamp));',
    to: 'settled = uint64(perHour - ledger.roomAt(block.timestamp));',
  },
];
